// GET /v1/cache: which prefixes are kept, and what do they take?
#include "server/app.h"
#include "server/cache_json.h"
#include "server/caller.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/endpoint_steps.h"

namespace ferrox {
namespace {

constexpr int64_t kShownNodes = 100;
constexpr int64_t kMostNodes = 10'000;

awaitable<void> show(App& app, Exchange& exchange) {
  const ApiResult<int64_t> n_nodes = query_number(exchange.request(), "nodes", kMostNodes, kShownNodes);
  HttpResponse response;
  if (!n_nodes) {
    response = error_response(n_nodes.error());
  } else {
    const std::string space = cache_space(app, exchange.request(), "");
    const auto report = co_await app.ask_cache(App::CacheStep::kShow, static_cast<size_t>(*n_nodes));
    response.body = dump_json(cache_json(report, app.engine().tier_stats(), space, app.engine().tokenizer()));
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_cache{
    .method = "GET",
    .path = "/v1/cache",
    .access = Access::kKey,
    .summary = "Shows the cached prefixes, their bytes, hits and evictions; ?nodes=N for more of the tree",
    .handle = show,
};

}  // namespace ferrox
