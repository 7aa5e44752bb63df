// POST /v1/chat/completions: what does the assistant say next?
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/chat_request.h"
#include "server/openai/endpoint_steps.h"

namespace ferrox {
namespace {

awaitable<void> chat(App& app, Exchange& exchange) {
  const auto prepare = [&app, &body = exchange.request().body]() -> ApiResult<PreparedAnswer> {
    TRY_ASSIGN(auto parsed, parse_chat(body, unknown_fields(app)));
    TRY(check_model(app, parsed.request));
    return prepare_chat(parsed, app.engine());
  };
  co_await prepare_and_answer(app, exchange, prepare);
}

}  // namespace

extern const Endpoint endpoint_chat_completions{
    .method = "POST",
    .path = "/v1/chat/completions",
    .access = Access::kKey,
    .summary = "Answers a conversation, whole or streamed",
    .handle = chat,
    .detail = "The conversation goes through the model's chat template. A stream ends with data: [DONE].",
    .bodies = [] { return std::vector{describe_chat()}; },
    .answer = AnswerKind::kJsonOrEvents,
    .refusals = kAnswerErrors,
    .is_metered = true,
    .runs_model = true,
    .operation = "chat",
};

}  // namespace ferrox
