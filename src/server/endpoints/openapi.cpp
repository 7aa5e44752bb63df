// GET /openapi.json: what can be asked of this server, for programs?
#include "server/reference/openapi.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"

namespace ferrox {
namespace {

awaitable<void> show_document(App&, Exchange& exchange) {
  HttpResponse response;
  response.body = openapi_text();
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_openapi{
    .method = "GET",
    .path = "/openapi.json",
    .access = Access::kKey,
    .summary = "Describes every path and field, as OpenAPI 3.1",
    .handle = show_document,
};

}  // namespace ferrox
