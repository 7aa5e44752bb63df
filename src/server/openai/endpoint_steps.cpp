// How do the completion endpoints go from a body to an answer?
#include "server/openai/endpoint_steps.h"

#include <utility>

namespace ferrox {

UnknownFields unknown_fields(App& app) {
  return app.options().strict_fields ? UnknownFields::kRefused : UnknownFields::kListed;
}

ApiResult<void> check_model(App& app, GenerationParams& params) {
  const std::string& loaded = app.engine().model_id();
  if (params.model == loaded) return {};
  if (app.options().strict_model) return unknown_model(params.model, loaded);
  if (!params.model.empty()) params.ignored.emplace_back("model");
  return {};
}

awaitable<void> prepare_and_answer(App& app, Exchange& exchange, std::function<ApiResult<PreparedAnswer>()> prepare) {
  ApiResult<PreparedAnswer> prepared = co_await app.on_worker(std::move(prepare));
  if (!prepared) {
    HttpResponse refusal = error_response(prepared.error());
    co_await exchange.respond(std::move(refusal));
    co_return;
  }
  PreparedAnswer ready = std::move(*prepared);
  co_await answer(app, exchange, std::move(ready));
}

}  // namespace ferrox
