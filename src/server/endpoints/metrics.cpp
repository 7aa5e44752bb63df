// GET /metrics: how busy is the server, in Prometheus's text format?
#include "server/app.h"
#include "server/endpoint.h"
#include "server/http/exchange.h"
#include "server/metrics/exposition.h"
#include "server/metrics/metrics_page.h"

namespace ferrox {
namespace {

std::string metrics_of(App& app) {
  const EngineStatus status = app.engine().status();
  const MetricsSource source{status,
                             *app.metrics(),
                             app.engine().page_rows(),
                             app.quotas().n_refused(),
                             app.responses().stats(),
                             app.streams().stats(),
                             app.sleep().is_asleep() ? static_cast<int>(*app.sleep().level()) : 0,
                             app.sleep().n_sleeps()};
  std::string page = own_metrics(source);
  if (app.options().vllm_metrics) page += vllm_metrics(source, app.engine().model_id());
  return page;
}

awaitable<void> show_metrics(App& app, Exchange& exchange) {
  HttpResponse response;
  response.content_type = kExpositionType;
  response.body = metrics_of(app);
  co_await exchange.respond(std::move(response));
}

}  // namespace

extern const Endpoint endpoint_metrics{
    .method = "GET",
    .path = "/metrics",
    .access = Access::kKey,
    .summary = "Gauges, counters and histograms in Prometheus's text format",
    .handle = show_metrics,
    .answer = AnswerKind::kText,
};

}  // namespace ferrox
