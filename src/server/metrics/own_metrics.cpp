// Which metrics does this server have under its own names?
#include "server/keys/api_key.h"
#include "server/metrics/exposition.h"
#include "server/metrics/metrics_page.h"

namespace ferrox {
namespace {

void add_pages(const MetricsSource& source, Exposition& page) {
  const EngineStatus& status = source.status;
  page.gauge("ferrox_kv_pages", "Pages of the KV store", double(status.n_pages_total));
  page.gauge("ferrox_kv_pages_used", "Pages that requests hold", double(status.n_pages_used()));
  page.gauge("ferrox_kv_pages_cached", "Pages that hold prefixes and give way to requests",
             double(status.n_pages_cached));
  page.gauge("ferrox_kv_usage_ratio", "Pages that requests hold, as a share of all", kv_usage(status));
  page.begin("ferrox_cache_config_info", "gauge", "Positions of a page, and pages of the KV store");
  page.sample("ferrox_cache_config_info",
              {{"page_size", std::to_string(source.page_rows)}, {"num_pages", std::to_string(status.n_pages_total)}},
              1);
  page.counter("ferrox_prefix_queries_tokens_total", "Prompt tokens of requests that look for what is cached",
               double(status.n_looked_up_tokens));
  page.counter("ferrox_prefix_hits_tokens_total", "Prompt tokens that were cached", double(status.n_cached_tokens));
}

void add_refusals(const RefusalCounts& refused, Exposition& page) {
  page.counter("ferrox_refused_too_long_total", "Prompts that leave no room in the context", double(refused.too_long));
  page.counter("ferrox_refused_too_large_total", "Requests larger than the whole KV store", double(refused.too_large));
  page.counter("ferrox_refused_queue_full_total", "Requests that met a full queue", double(refused.queue_full));
  page.counter("ferrox_refused_no_room_total", "Requests whose deadline passed in the queue", double(refused.no_room));
}

void add_responses(const ResponseCache::Stats& responses, Exposition& page) {
  page.counter("ferrox_response_cache_hits_total", "Whole answers that were kept", double(responses.n_hits));
  page.counter("ferrox_response_cache_misses_total", "Repeatable whole answers that weren't kept",
               double(responses.n_misses));
  page.counter("ferrox_response_cache_skips_total", "Answers that are streamed or left to chance",
               double(responses.n_skips));
  page.gauge("ferrox_response_cache_entries", "Whole answers that are kept", double(responses.n_entries));
  page.gauge("ferrox_response_cache_bytes", "Bytes that they take", double(responses.n_bytes));
}

void add_streams(const HeldStreams::Stats& streams, Exposition& page) {
  page.gauge("ferrox_resumable_streams", "Streams that can be taken up again", double(streams.n_streams));
  page.gauge("ferrox_resumable_streams_detached", "Of them, that run with nobody attached", double(streams.n_detached));
  page.gauge("ferrox_resumable_stream_bytes", "Bytes of their events that are kept", double(streams.n_bytes));
  page.counter("ferrox_stream_resumes_total", "Times that one was taken up", double(streams.n_resumes));
  page.counter("ferrox_stream_resumes_gone_total", "Times that what was to follow had gone", double(streams.n_gone));
  page.counter("ferrox_refused_streams_total", "Requests for one more than may be kept", double(streams.n_refused));
}

void add_callers(const CallerMetrics& callers, const ApiKey* reader, Exposition& page) {
  if (callers.by_name().empty()) return;
  const bool sees_all = reader == nullptr || reader->is_admin;
  const auto add = [&](const char* name, const char* help, std::atomic<uint64_t> CallerCounts::*count) {
    page.begin(name, "counter", help);
    for (const auto& [caller, counts] : callers.by_name()) {
      if (!sees_all && caller != reader->name) continue;
      page.sample(name, {{"caller", caller}}, double((counts.*count).load(std::memory_order_relaxed)));
    }
  };
  add("ferrox_caller_requests_total", "Requests whose answers were begun, by key", &CallerCounts::n_requests);
  add("ferrox_caller_prompt_tokens_total", "Prompt tokens that were admitted, cached ones too, by key",
      &CallerCounts::n_prompt);
  add("ferrox_caller_cached_tokens_total", "Prompt tokens that were cached, by key", &CallerCounts::n_cached);
  add("ferrox_caller_completion_tokens_total", "Tokens that were generated, by key", &CallerCounts::n_generated);
}

void add_telemetry(const MetricsSource& source, Exposition& page) {
  if (source.kv_events) {
    page.counter("ferrox_kv_events_total", "Events of the prefix cache that were published",
                 double(source.kv_events->n_told));
    page.counter("ferrox_kv_events_dropped_total", "Events of the prefix cache that found no room in the queue",
                 double(source.kv_events->n_dropped));
  }
  if (source.traces) {
    page.counter("ferrox_trace_spans_total", "Spans that the collector took", double(source.traces->n_sent));
    page.counter("ferrox_trace_spans_dropped_total", "Spans that it didn't take, or that found no room in the queue",
                 double(source.traces->n_dropped));
  }
}

struct TierFamily {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  uint64_t TierStats::*value;
};

constexpr TierFamily kTierFamilies[] = {
    {"ferrox_prefix_tier_bytes", "gauge", "Bytes of prefixes, counted against the budget", &TierStats::bytes},
    {"ferrox_prefix_tier_entries", "gauge", "Pages and states of prefixes that are held", &TierStats::n_entries},
    {"ferrox_prefix_tier_hits_total", "counter", "Entries that were looked for and held", &TierStats::n_hits},
    {"ferrox_prefix_tier_misses_total", "counter", "Entries that were looked for and not held", &TierStats::n_misses},
    {"ferrox_prefix_tier_stored_total", "counter", "Entries that were stored", &TierStats::n_stored},
    {"ferrox_prefix_tier_loaded_total", "counter", "Entries that were read", &TierStats::n_loaded},
    {"ferrox_prefix_tier_evicted_total", "counter", "Entries that made room for others", &TierStats::n_evicted},
    {"ferrox_prefix_tier_dropped_total", "counter", "Entries that found no room", &TierStats::n_dropped},
    {"ferrox_prefix_tier_damaged_total", "counter", "Entries that weren't what they should be", &TierStats::n_damaged},
    {"ferrox_prefix_tier_io_errors_total", "counter", "What the system refused", &TierStats::n_io_errors},
};

void add_tiers(const PrefixTierStats& tiers, Exposition& page) {
  for (const TierFamily& family : kTierFamilies) {
    page.begin(family.name, family.type, family.help);
    page.sample(family.name, {{"tier", "host"}}, double(tiers.host.*family.value));
    page.sample(family.name, {{"tier", "disk"}}, double(tiers.disk.*family.value));
  }
}

void add_requests(const RequestMetrics& requests, Exposition& page) {
  page.counter("ferrox_generation_tokens_total", "Tokens that were generated", double(requests.n_generated));
  page.begin("ferrox_requests_finished_total", "counter", "Accepted requests that ended, by reason");
  constexpr const char* kReasons[kRequestEnds] = {"stop", "length", "cancelled", "error"};
  for (size_t i = 0; i < kRequestEnds; ++i) {
    page.sample("ferrox_requests_finished_total", {{"reason", kReasons[i]}}, double(requests.n_ended[i]));
  }
  page.histogram("ferrox_time_to_first_token_seconds", "From arrival to the first token",
                 requests.time_to_first_token.snapshot());
  page.histogram("ferrox_inter_token_latency_seconds", "From one token to the next of an answer",
                 requests.inter_token.snapshot());
  page.histogram("ferrox_e2e_request_latency_seconds", "From arrival to the end of an answer that wasn't cancelled",
                 requests.end_to_end.snapshot());
  page.histogram("ferrox_request_queue_time_seconds", "From submission to admission", requests.queue_time.snapshot());
}

}  // namespace

double kv_usage(const EngineStatus& status) {
  if (status.n_pages_total == 0) return 0;
  return static_cast<double>(status.n_pages_used()) / static_cast<double>(status.n_pages_total);
}

std::string own_metrics(const MetricsSource& source) {
  const EngineStatus& status = source.status;
  Exposition page;
  page.gauge("ferrox_num_requests_running", "Requests that take part in steps", double(status.n_running));
  page.gauge("ferrox_num_requests_waiting", "Requests that wait for admission", double(status.n_queued));
  page.gauge("ferrox_num_requests_parked", "Requests that ran, and wait to go on", double(status.n_parked));
  page.counter("ferrox_parks_total", "Times that a request that ran was parked", double(status.n_parks));
  add_pages(source, page);
  add_refusals(status.refused, page);
  page.counter("ferrox_refused_quota_total", "Requests beyond what their key may ask for", double(source.n_over_quota));
  page.counter("ferrox_steps_total", "Forward passes since the start", double(status.n_steps));
  page.counter("ferrox_prompt_tokens_total", "Prompt tokens of requests that were admitted, cached ones too",
               double(status.n_prompt_tokens));
  add_requests(source.requests, page);
  add_responses(source.responses, page);
  add_streams(source.streams, page);
  page.gauge("ferrox_sleep_level", "How deep the server sleeps; 0: it is awake", double(source.sleep_level));
  page.counter("ferrox_sleeps_total", "Times that it fell asleep, by order or for want of work",
               double(source.n_sleeps));
  add_callers(source.callers, source.reader, page);
  add_telemetry(source, page);
  if (source.tiers) add_tiers(*source.tiers, page);
  return page.text();
}

}  // namespace ferrox
