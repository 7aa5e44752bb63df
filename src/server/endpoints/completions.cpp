// POST /v1/completions: what follows these prompts?
#include "server/endpoint.h"
#include "server/openai/completion_request.h"
#include "server/openai/endpoint_steps.h"

namespace ferrox {
namespace {

awaitable<void> complete(App& app, Exchange& exchange) {
  const auto prepare = [&app, &body = exchange.request().body]() -> ApiResult<PreparedAnswer> {
    TRY_ASSIGN(auto parsed, parse_completion(body, unknown_fields(app)));
    TRY(check_model(app, parsed.request));
    return prepare_completion(parsed, app.engine().tokenizer());
  };
  co_await prepare_and_answer(app, exchange, prepare);
}

}  // namespace

extern const Endpoint endpoint_completions{
    .method = "POST",
    .path = "/v1/completions",
    .access = Access::kKey,
    .summary = "Continues prompts, whole or streamed",
    .handle = complete,
    .detail = "Texts and token ids go to the model as they are. A stream ends with data: [DONE].",
    .bodies = [] { return std::vector{describe_completion()}; },
    .answer = AnswerKind::kJsonOrEvents,
    .refusals = kAnswerErrors,
    .is_metered = true,
    .runs_model = true,
    .operation = "text_completion",
};

}  // namespace ferrox
