// GET /is_sleeping: was memory given back?
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_text.h"

namespace ferrox {
namespace {

awaitable<void> tell_sleep(App& app, Exchange& exchange) {
  const SleepState& sleep = app.sleep();
  HttpResponse response;
  response.body = dump_json({{"is_sleeping", sleep.is_asleep()},
                             {"level", sleep.is_asleep() ? static_cast<int>(*sleep.level()) : 0},
                             {"wakes_by_itself", sleep.is_asleep() && !sleep.refuses()}});
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_is_sleeping{
    .method = "GET",
    .path = "/is_sleeping",
    .access = Access::kKey,
    .summary = "Whether the server sleeps, how deep, and whether the next request wakes it",
    .handle = tell_sleep,
};

}  // namespace ferrox
