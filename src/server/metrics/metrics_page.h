// What does GET /metrics show? This server's names, and vLLM's for what was made to scrape it.
#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"
#include "server/answer/response_cache.h"
#include "server/metrics/caller_metrics.h"
#include "server/metrics/request_metrics.h"
#include "server/streams/held_streams.h"
#include "telemetry/kv_event_queue.h"
#include "telemetry/span_exporter.h"

namespace ferrox {

struct ApiKey;

struct MetricsSource {
  const EngineStatus& status;
  const RequestMetrics& requests;
  int32_t page_rows;     ///< positions of one page
  int64_t n_over_quota;  ///< requests beyond what their key may ask for
  ResponseCache::Stats responses;
  HeldStreams::Stats streams;
  int sleep_level;  ///< 0: awake
  uint64_t n_sleeps;
  const CallerMetrics& callers;
  const ApiKey* reader;                   ///< who asks, and is told of its own key alone; nullptr, or an admin: of all
  std::optional<KvEventStats> kv_events;  ///< absent: none are published
  std::optional<SpanExporterStats> traces;  ///< absent: none are sent
  std::optional<PrefixTierStats> tiers;     ///< absent: prefixes have none
};

/// ferrox_*.
std::string own_metrics(const MetricsSource& source);

/// vllm:*, with vLLM's names, labels, buckets and meaning.
std::string vllm_metrics(const MetricsSource& source, const std::string& model_id);

/// Pages that requests hold, as a share of all: those of cached prefixes count as free.
double kv_usage(const EngineStatus& status);

}  // namespace ferrox
