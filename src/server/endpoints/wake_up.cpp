// POST /wake_up: ends what POST /sleep began.
#include "base/log.h"
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"

namespace ferrox {
namespace {

/// No coroutine: the frame of one would hold the lambda, which has no linkage.
awaitable<bool> read_weights_ahead(App& app) {
  return app.on_waiter([&app] {
    app.engine().wake();
    return true;
  });
}

awaitable<void> wake_by_order(App& app, Exchange& exchange) {
  if (app.sleep().order_wake(std::chrono::steady_clock::now())) {
    log().info("awake by order");
    co_await read_weights_ahead(app);
  }
  HttpResponse response;
  response.body = dump_json({{"is_sleeping", false}});
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_wake_up{
    .method = "POST",
    .path = "/wake_up",
    .access = Access::kAdmin,
    .summary = "Ends the sleep that POST /sleep began",
    .handle = wake_by_order,
};

}  // namespace ferrox
