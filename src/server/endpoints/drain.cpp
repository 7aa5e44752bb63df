// POST /admin/drain: no new requests; what runs ends, and the process stays until a signal.
#include "base/log.h"
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"

namespace ferrox {
namespace {

awaitable<void> drain_by_order(App& app, Exchange& exchange) {
  if (!app.draining()) {
    log().info("draining by order: {} running requests may finish", app.running().size());
    app.start_draining();
  }
  HttpResponse response;
  response.body = dump_json({{"draining", true}, {"running", app.running().size()}});
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_drain{
    .method = "POST",
    .path = "/admin/drain",
    .access = Access::kAdmin,
    .summary = "Admits no more requests; what runs ends, and the process stays until a signal",
    .handle = drain_by_order,
};

}  // namespace ferrox
