// POST /v1/sessions: puts what the cache holds of a conversation into a file.
#include <utility>

#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/openai/endpoint_steps.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

awaitable<HttpResponse> save(App& app, Exchange& exchange) {
  ApiResult<CachedPrompt> prompt = co_await read_one_prompt(app, exchange);
  if (!prompt) co_return error_response(prompt.error());
  const size_t n_prompt = prompt->tokens.size();
  const auto saved = co_await save_session(app, std::move(prompt->space), std::move(prompt->tokens));
  if (!saved) co_return error_response(saved.error());
  Json json = session_json(*saved);
  json["prompt_tokens"] = n_prompt;
  co_return json_response(json, std::move(prompt->headers));
}

awaitable<void> handle(App& app, Exchange& exchange) {
  HttpResponse response = co_await save(app, exchange);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_session_save{
    .method = "POST",
    .path = "/v1/sessions",
    .access = Access::kKey,
    .summary = "Saves what the cache holds of a conversation, given as a chat or a completion, and gives its id",
    .handle = handle,
    .detail = "Gives id, tokens, bytes and prompt_tokens.",
    .bodies = describe_either,
    .refusals = kPromptErrors | kSessionErrors,
    .is_metered = true,
};

}  // namespace ferrox
