// POST /v1/messages/count_tokens: how long is the prompt of this conversation? Nothing runs.
#include "server/anthropic/message_fields.h"
#include "server/anthropic/message_steps.h"
#include "server/dialect.h"
#include "server/endpoint.h"
#include "server/json_text.h"

namespace ferrox {
namespace {

HttpResponse count_of(const HttpRequest& request, const ApiResult<PreparedMessage>& prepared) {
  if (!prepared) return refusal(request, prepared.error());
  HttpResponse response;
  response.headers = prepared->headers;
  add_dialect_headers(request, response.headers);
  response.body = dump_json({{"input_tokens", prepared->request.prompt.size()}});
  return response;
}

awaitable<void> count_tokens(App& app, Exchange& exchange) {
  const ApiResult<PreparedMessage> prepared =
      co_await prepare_message_on_worker(app, exchange, MessageUse::kPromptLength);
  HttpResponse response = count_of(exchange.request(), prepared);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_messages_count_tokens{
    .method = "POST",
    .path = "/v1/messages/count_tokens",
    .access = Access::kKey,
    .summary = "Counts the prompt tokens of a message of Anthropic's dialect; nothing runs",
    .handle = count_tokens,
    .detail = "Gives input_tokens.",
    .bodies = [] { return std::vector{describe_message(MessageUse::kPromptLength)}; },
    .refusals = {ErrorKind::kModelNotFound, ErrorKind::kUnsupported},
    .is_metered = true,
};

}  // namespace ferrox
