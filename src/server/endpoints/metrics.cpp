// GET /metrics: how busy is the server, in Prometheus's text format?
#include <fmt/format.h>

#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"

namespace ferrox {
namespace {

struct Metric {
  const char* name;
  const char* type;
  const char* help;
  double value;
};

std::string exposition(const EngineStatus& status, int64_t n_over_quota) {
  const auto used = static_cast<double>(status.n_pages_total - status.n_pages_free - status.n_pages_cached);
  const Metric metrics[] = {
      {"ferrox_num_requests_running", "gauge", "Requests that take part in steps", double(status.n_running)},
      {"ferrox_num_requests_waiting", "gauge", "Requests that wait for admission", double(status.n_queued)},
      {"ferrox_num_requests_parked", "gauge", "Requests that ran, and wait to go on", double(status.n_parked)},
      {"ferrox_parks_total", "counter", "Times that a request that ran was parked", double(status.n_parks)},
      {"ferrox_kv_pages_total", "gauge", "Pages of the KV store", double(status.n_pages_total)},
      {"ferrox_kv_pages_used", "gauge", "Pages that requests hold", used},
      {"ferrox_kv_pages_cached", "gauge", "Pages that hold prefixes and give way to requests",
       double(status.n_pages_cached)},
      {"ferrox_prefix_queries_tokens_total", "counter", "Prompt tokens of requests that were admitted",
       double(status.n_prompt_tokens)},
      {"ferrox_prefix_hits_tokens_total", "counter", "Prompt tokens that were cached", double(status.n_cached_tokens)},
      {"ferrox_refused_too_long_total", "counter", "Prompts that leave no room in the context",
       double(status.refused.too_long)},
      {"ferrox_refused_too_large_total", "counter", "Requests larger than the whole KV store",
       double(status.refused.too_large)},
      {"ferrox_refused_queue_full_total", "counter", "Requests that met a full queue",
       double(status.refused.queue_full)},
      {"ferrox_refused_no_room_total", "counter", "Requests whose deadline passed in the queue",
       double(status.refused.no_room)},
      {"ferrox_refused_quota_total", "counter", "Requests beyond what their key may ask for", double(n_over_quota)},
      {"ferrox_steps_total", "counter", "Forward passes since the start", double(status.n_steps)},
  };
  std::string text;
  for (const Metric& metric : metrics) {
    text +=
        fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", metric.name, metric.help, metric.type, metric.value);
  }
  return text;
}

awaitable<void> show_metrics(App& app, Exchange& exchange) {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4";
  response.body = exposition(app.engine().status(), app.quotas().n_refused());
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_metrics{
    .method = "GET",
    .path = "/metrics",
    .access = Access::kKey,
    .summary = "Gauges and counters in Prometheus's text format",
    .handle = show_metrics,
};

}  // namespace ferrox
