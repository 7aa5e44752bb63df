// POST /v1/sessions: puts what the cache holds of a conversation into a file.
#include <fmt/format.h>

#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/endpoint_steps.h"
#include "server/session_steps.h"

namespace ferrox {
namespace {

HttpResponse answer_of(const ApiResult<SessionSummary>& saved, size_t n_prompt) {
  if (!saved) return error_response(saved.error());
  Json json = session_json(*saved);
  json["prompt_tokens"] = n_prompt;
  HttpResponse response;
  response.body = dump_json(json);
  return response;
}

awaitable<void> handle(App& app, Exchange& exchange) {
  const ApiResult<PreparedAnswer> prepared =
      co_await app.on_worker([&app, &body = exchange.request().body] { return prepare_either(app, body); });
  HttpResponse response;
  if (!prepared) {
    response = error_response(prepared.error());
  } else if (prepared->requests.size() != 1) {
    response = error_response(
        invalid_request("", fmt::format("expected one conversation to save, found {}", prepared->requests.size())));
  } else {
    const GenerationRequest& request = prepared->requests.front();
    if (const auto valid = app.engine().ask_admission(request.prompt, 1); !valid) {
      response = error_response(app.submit_refusal(valid.error()));
      co_await exchange.respond(std::move(response));
      co_return;
    }
    std::string space = cache_space(app, exchange.request(), request.cache_space);
    response = answer_of(co_await save_session(app, std::move(space), request.prompt), request.prompt.size());
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_session_save{
    .method = "POST",
    .path = "/v1/sessions",
    .access = Access::kKey,
    .summary = "Saves what the cache holds of a conversation, given as a chat or a completion, and gives its id",
    .handle = handle,
};

}  // namespace ferrox
