// POST /v1/admission: would this request be served, what would it take, and would it have to wait? Nothing runs.
#include "server/app.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"
#include "server/openai/endpoint_steps.h"

namespace ferrox {
namespace {

Json choice_json(const AdmissionAnswer& answer) {
  return {{"prompt_tokens", answer.n_prompt},   {"max_tokens", answer.max_tokens},
          {"positions", answer.n_positions},    {"position_limit", answer.most_positions},
          {"estimated_bytes", answer.kv_bytes}, {"limit_bytes", answer.kv_bytes_limit},
          {"would_wait", !answer.runs_now}};
}

/// One entry per choice, or the refusal that the request itself would meet.
HttpResponse answer_of(App& app, const ApiKey* key, const ApiResult<PreparedAnswer>& prepared) {
  if (!prepared) return error_response(prepared.error());
  const Error draining = make_error(ErrorCode::kUnavailable, "draining: no new requests are admitted");
  if (app.draining()) return error_response(app.submit_refusal(draining));
  if (const auto counted = app.engine().check_number(prepared->requests.size()); !counted) {
    return error_response(app.submit_refusal(counted.error()));
  }
  Json choices = Json::array();
  for (const GenerationRequest& request : prepared->requests) {
    if (const auto allowed = check_rights(key, request); !allowed) return error_response(allowed.error());
    const auto answer = app.engine().ask_admission(request.prompt, request.max_tokens, prepared->n_per_prompt);
    if (!answer) return error_response(app.submit_refusal(answer.error()));
    choices.push_back(choice_json(*answer));
  }
  HttpResponse response;
  response.headers = prepared->headers;
  response.body = dump_json({{"object", "admission"}, {"admitted", true}, {"choices", std::move(choices)}});
  return response;
}

awaitable<void> ask(App& app, Exchange& exchange) {
  const ApiResult<PreparedAnswer> prepared = co_await prepare_either_on_worker(app, exchange);
  HttpResponse response = answer_of(app, exchange.request().caller, prepared);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_admission{
    .method = "POST",
    .path = "/v1/admission",
    .access = Access::kKey,
    .summary = "Says whether a completion or a chat would be served, and what it would take",
    .handle = ask,
    .detail = "Nothing runs. A request that would be refused is refused here with the same error.",
    .bodies = describe_either,
    .refusals = kPromptErrors,
    .is_metered = true,
};

}  // namespace ferrox
