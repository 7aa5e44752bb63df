// POST /sleep?level=N: gives memory back and refuses requests until POST /wake_up.
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/json_response.h"
#include "server/schema/describe.h"
#include "server/schema/query.h"
#include "server/sleep_steps.h"

namespace ferrox {
namespace {

struct SleepQuery {
  int64_t level = 1;
};

const Field<SleepQuery> kQuery[] = {
    {"level",
     [](SleepQuery& q) -> int64_t& { return q.level; },
     {1, 2},
     "1: prefixes go to the tiers, as far as there are some; 2: what is in memory goes"},
};

std::vector<FieldDescription> describe_query() { return describe_fields<SleepQuery>(kQuery); }

awaitable<ApiResult<Json>> fall_asleep(App& app, const HttpRequest& request) {
  const ApiResult<SleepQuery> query = read_query<SleepQuery>(request.query, kQuery);
  if (!query) co_return query.error();
  const auto level = static_cast<SleepLevel>(query->level);
  if (app.draining()) co_return unavailable(ErrorKind::kDraining, "server is draining", app.retry_after_s());
  const bool is_asleep = co_await sleep_by_order(app, level);
  if (is_asleep) co_return Json{{"is_sleeping", true}, {"level", static_cast<int>(level)}};
  co_return ApiError(
      ErrorKind::kSleepOvertaken,
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
    .summary = "Lets what runs end, gives memory back and refuses requests until POST /wake_up",
    .handle = sleep_now,
    .query = describe_query,
    .refusals = {ErrorKind::kDraining, ErrorKind::kSleepOvertaken},
};

}  // namespace ferrox
