// GET /v1/models: what is loaded?
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/model_object.h"

namespace ferrox {
namespace {

awaitable<void> list_models(App& app, Exchange& exchange) {
  Json data = Json::array({model_object(app)});
  HttpResponse response;
  response.body = dump_json({{"object", "list"}, {"data", std::move(data)}});
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_models{
    .method = "GET",
    .path = "/v1/models",
    .access = Access::kKey,
    .summary = "Lists the loaded model",
    .handle = list_models,
    .detail = "The one model that is served, with its context length and parameters.",
};

}  // namespace ferrox
