// GET /v1/models/{id}: is this model loaded?
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/model_object.h"

namespace ferrox {
namespace {

awaitable<void> show_model(App& app, Exchange& exchange) {
  const std::string& name = exchange.request().path_parameter;
  HttpResponse response;
  if (name == app.engine().model_id()) {
    response.body = dump_json(model_object(app));
  } else {
    response = error_response(unknown_model(name, app.engine().model_id()));
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_model{
    .method = "GET",
    .path = "/v1/models/{id}",
    .access = Access::kKey,
    .summary = "Describes the loaded model",
    .handle = show_model,
    .refusals = {ErrorKind::kModelNotFound},
};

}  // namespace ferrox
