// GET /metrics: how busy is the server, in Prometheus's text format?
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/metrics/exposition.h"
#include "server/metrics/metrics_page.h"

namespace ferrox {
namespace {

std::string metrics_of(App& app, const ApiKey* reader) {
  const EngineStatus status = app.engine().status();
  const ServerOptions& options = app.options();
  MetricsSource source{.status = status,
                       .requests = *app.metrics(),
                       .page_rows = app.engine().page_rows(),
                       .n_over_quota = app.quotas().n_refused(),
                       .responses = app.responses().stats(),
                       .streams = app.streams().stats(),
                       .sleep_level = app.sleep().is_asleep() ? static_cast<int>(*app.sleep().level()) : 0,
                       .n_sleeps = app.sleep().n_sleeps(),
                       .callers = *app.callers(),
                       .reader = reader,
                       .kv_events = {},
                       .traces = {},
                       .tiers = app.engine().tier_stats()};
  if (options.kv_events != nullptr) source.kv_events = options.kv_events->stats();
  if (options.traces != nullptr) source.traces = options.traces->stats();
  std::string page = own_metrics(source);
  if (options.vllm_metrics) page += vllm_metrics(source, app.engine().model_id());
  return page;
}

awaitable<void> show_metrics(App& app, Exchange& exchange) {
  HttpResponse response;
  response.content_type = kExpositionType;
  response.body = metrics_of(app, exchange.request().caller);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_metrics{
    .method = "GET",
    .path = "/metrics",
    .access = Access::kKey,
    .summary = "Gauges, counters and histograms in Prometheus's text format",
    .handle = show_metrics,
    .detail = "What each key used is told to admins, and to others of their own key.",
    .answer = AnswerKind::kText,
    .is_probe = true,
};

}  // namespace ferrox
