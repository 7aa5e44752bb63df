// POST /sleep?level=N: gives memory back and refuses requests until POST /wake_up.
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/openai/endpoint_steps.h"
#include "server/sleep_steps.h"

namespace ferrox {
namespace {

ApiResult<SleepLevel> asked_level(const HttpRequest& request) {
  constexpr int64_t kDeepest = 2;
  TRY_ASSIGN(const int64_t level, query_number(request, "level", kDeepest, 1));
  if (level == 0) return invalid_request("level", "level: expected level=N with N from 1 to 2, found 'level=0'");
  return static_cast<SleepLevel>(level);
}

awaitable<ApiResult<Json>> fall_asleep(App& app, const HttpRequest& request) {
  const ApiResult<SleepLevel> level = asked_level(request);
  if (!level) co_return level.error();
  if (app.draining()) co_return unavailable("draining", "server is draining", app.retry_after_s());
  const bool is_asleep = co_await sleep_by_order(app, *level);
  if (is_asleep) co_return Json{{"is_sleeping", true}, {"level", static_cast<int>(*level)}};
  co_return ApiError(
      409, "invalid_request_error", "sleep_overtaken",
      "sleep: expected to be the last order, found another one, or a drain, that came before it was done");
}

awaitable<void> sleep_now(App& app, Exchange& exchange) {
  const ApiResult<Json> json = co_await fall_asleep(app, exchange.request());
  HttpResponse response = json_response(json);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_sleep{
    .method = "POST",
    .path = "/sleep",
    .access = Access::kAdmin,
    .summary = "Lets what runs end, gives memory back and refuses requests until POST /wake_up; ?level=2 drops all",
    .handle = sleep_now,
};

}  // namespace ferrox
