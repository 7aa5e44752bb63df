// GET /v1/cache: which prefixes are kept, and what do they take?
#include <algorithm>
#include <charconv>

#include "server/app.h"
#include "server/cache_json.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/openai/endpoint_steps.h"

namespace ferrox {
namespace {

constexpr size_t kShownNodes = 100;
constexpr size_t kMostNodes = 10'000;

/// Of "nodes=N": how much of the tree is wanted; nothing when the query is something else.
std::optional<size_t> wanted_nodes(std::string_view query) {
  if (query.empty()) return kShownNodes;
  constexpr std::string_view kName = "nodes=";
  if (!query.starts_with(kName)) return std::nullopt;
  query.remove_prefix(kName.size());
  size_t n = 0;
  const auto [rest, error] = std::from_chars(query.data(), query.data() + query.size(), n);
  if (error != std::errc() || rest != query.data() + query.size() || n > kMostNodes) return std::nullopt;
  return n;
}

awaitable<void> show(App& app, Exchange& exchange) {
  const std::string query = exchange.request().query;
  const auto n_nodes = wanted_nodes(query);
  HttpResponse response;
  if (!n_nodes) {
    response = error_response(invalid_request(
        "nodes", fmt::format("nodes: expected nodes=N with at most {}, found '{}'", kMostNodes, query)));
  } else {
    const std::string space = cache_space(app, exchange.request(), "");
    const auto report = co_await app.ask_cache(App::CacheStep::kShow, *n_nodes);
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
