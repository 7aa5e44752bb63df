// GET /v1/cache: which prefixes are kept, and what do they take?
#include "server/app.h"
#include "server/cache_json.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/schema/describe.h"
#include "server/schema/query.h"

namespace ferrox {
namespace {

struct CacheQuery {
  int64_t n_nodes = 100;
};

const Field<CacheQuery> kQuery[] = {
    {"nodes", [](CacheQuery& q) -> int64_t& { return q.n_nodes; }, {0, 10'000}, "most parts of the tree to show"},
};

std::vector<FieldDescription> describe_query() { return describe_fields<CacheQuery>(kQuery); }

awaitable<void> show(App& app, Exchange& exchange) {
  const ApiResult<CacheQuery> query = read_query<CacheQuery>(exchange.request().query, kQuery);
  HttpResponse response;
  if (!query) {
    response = error_response(query.error());
  } else {
    const std::string space = cache_space(app, exchange.request(), "");
    const auto report = co_await app.ask_cache(App::CacheStep::kShow, static_cast<size_t>(query->n_nodes));
    response.body = dump_json(cache_json(report, app.engine().tier_stats(), space, app.engine().tokenizer()));
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_cache{
    .method = "GET",
    .path = "/v1/cache",
    .access = Access::kKey,
    .summary = "Shows the cached prefixes, their bytes, hits and evictions",
    .handle = show,
    .detail =
        "The tree, its pages and bytes of each kind, hits, evictions and pins; tiers: what host memory and disk "
        "hold. Texts are shown of the caller's own prefixes.",
    .query = describe_query,
};

}  // namespace ferrox
