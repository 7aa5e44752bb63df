// Which of vLLM's metrics have a counterpart here?
#include "server/metrics/exposition.h"
#include "server/metrics/metrics_page.h"

namespace ferrox {
namespace {

void add_success(const RequestMetrics& requests, Exposition& page) {
  page.begin("vllm:request_success_total", "counter", "Count of successfully processed requests.");
  constexpr const char* kReasons[kRequestEnds] = {"stop", "length", "abort", "error"};
  for (size_t i = 0; i < kRequestEnds; ++i) {
    page.sample("vllm:request_success_total", {{"finished_reason", kReasons[i]}}, double(requests.n_ended[i]));
  }
}

void add_cache_config(const MetricsSource& source, Exposition& page) {
  page.begin("vllm:cache_config_info", "gauge", "Size and number of the pages of the KV store.");
  page.sample("vllm:cache_config_info",
              {{"block_size", std::to_string(source.page_rows)},
               {"num_gpu_blocks", std::to_string(source.status.n_pages_total)}},
              1);
}

}  // namespace

std::string vllm_metrics(const MetricsSource& source, const std::string& model_id) {
  const EngineStatus& status = source.status;
  const RequestMetrics& requests = source.requests;
  const MetricLabels common = {{"model_name", model_id}, {"engine", "0"}};
  Exposition page(common);
  page.gauge("vllm:num_requests_running", "Number of requests in model execution batches.", double(status.n_running));
  page.gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.",
             double(status.n_queued + status.n_parked));  // vLLM's preempted requests wait as well
  page.gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", kv_usage(status));
  add_cache_config(source, page);
  page.counter("vllm:prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.",
               double(status.n_looked_up_tokens));
  page.counter("vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.",
               double(status.n_cached_tokens));
  page.counter("vllm:num_preemptions_total", "Cumulative number of preemptions: requests that were parked.",
               double(status.n_parks));
  page.counter("vllm:prompt_tokens_total", "Number of prefill tokens processed.", double(status.n_prompt_tokens));
  page.counter("vllm:generation_tokens_total", "Number of generation tokens processed.", double(requests.n_generated));
  add_success(requests, page);
  page.histogram("vllm:time_to_first_token_seconds", "Time to first token in seconds.",
                 requests.time_to_first_token.snapshot());
  page.histogram("vllm:inter_token_latency_seconds", "Inter-token latency in seconds.",
                 requests.inter_token.snapshot());
  page.histogram("vllm:e2e_request_latency_seconds", "End to end request latency in seconds.",
                 requests.end_to_end.snapshot());
  page.histogram("vllm:request_queue_time_seconds", "Time spent in WAITING phase for request.",
                 requests.queue_time.snapshot());
  return page.text();
}

}  // namespace ferrox
