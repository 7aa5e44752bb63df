// POST /v1/cache/clear: forgets every cached prefix that no running request uses, those in the tiers as well.
#include "server/app.h"
#include "server/cache_json.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"

namespace ferrox {
namespace {

awaitable<void> clear(App& app, Exchange& exchange) {
  HttpResponse response;
  const auto report = co_await app.ask_cache(App::CacheStep::kClear, 0);
  response.body = dump_json(cache_json(report, app.engine().tier_stats(), "", app.engine().tokenizer()));
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_cache_clear{
    .method = "POST",
    .path = "/v1/cache/clear",
    .access = Access::kAdmin,
    .summary = "Forgets every cached prefix that no running request uses, in memory and on disk",
    .handle = clear,
    .detail = "Answers as GET /v1/cache does. Files go by and by, saved sessions stay.",
};

}  // namespace ferrox
