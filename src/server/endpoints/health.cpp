// GET /health: may a balancer send requests here?
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"

namespace ferrox {
namespace {

awaitable<void> health(App& app, Exchange& exchange) {
  HttpResponse response;
  if (app.draining()) {
    response = error_response(unavailable(ErrorKind::kDraining, "server is draining", app.retry_after_s()));
  } else {
    const EngineStatus status = app.engine().status();
    response.body = dump_json({{"status", app.sleep().refuses() ? "sleeping" : "ok"},
                               {"running", status.n_running},
                               {"queued", status.n_queued}});
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_health{
    .method = "GET",
    .path = "/health",
    .access = Access::kPublic,
    .summary = "200 when requests are admitted, 503 while draining",
    .handle = health,
    .detail = "Tells how many requests run and wait.",
    .refusals = {ErrorKind::kDraining},
    .is_probe = true,
};

}  // namespace ferrox
