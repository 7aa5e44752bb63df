// GET /readyz: are requests admitted?
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"

namespace ferrox {
namespace {

awaitable<void> tell_readiness(App& app, Exchange& exchange) {
  HttpResponse response;
  if (const auto error = app.unready()) {
    response = error_response(*error);
  } else {
    response.body = dump_json({{"status", "ready"}});
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_readyz{
    .method = "GET",
    .path = "/readyz",
    .access = Access::kPublic,
    .summary = "200 when requests are admitted; 503 while the server drains, or sleeps by order",
    .handle = tell_readiness,
    .refusals = {ErrorKind::kDraining, ErrorKind::kSleeping},
    .is_probe = true,
};

}  // namespace ferrox
