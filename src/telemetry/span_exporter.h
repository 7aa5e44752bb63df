// Who sends spans to a collector? A thread of its own, from a bounded queue: no request ever waits for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "telemetry/http_post.h"
#include "telemetry/span.h"

namespace ferrox {

struct SpanExporterOptions {
  std::string url;                          ///< of the collector's traces, such as http://127.0.0.1:4318/v1/traces
  std::vector<std::string> headers;         ///< "name: value", for a collector that asks who sends
  std::vector<SpanAttribute> service;       ///< what is said of this process; service.name among it
  size_t most_queued = 8'192;               ///< spans; what comes beyond them is dropped
  size_t most_sent = 512;                   ///< spans of one post
  std::chrono::milliseconds gather{1'000};  ///< after a first span, for others to go with it
  std::chrono::milliseconds retry{1'000};   ///< before the second attempt; doubled before each further one
  int most_attempts = 4;                    ///< then the spans of the post are dropped
  std::chrono::milliseconds post_timeout{10'000};
  std::chrono::milliseconds last_flush{3'000};  ///< what is queued at the end has so long
};

struct SpanExporterStats {
  uint64_t n_sent = 0;
  uint64_t n_dropped = 0;  ///< no room in the queue, refused by the collector, or never taken by it
};

class SpanExporter {
 public:
  /// kInvalidArgument: a URL that isn't http or https. A collector that isn't there is no error: it may come.
  static Result<std::shared_ptr<SpanExporter>> open(SpanExporterOptions options);

  /// Sends what is queued, for last_flush at most.
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  /// Any thread; never waits. All of them are queued or dropped.
  void add(std::vector<Span> spans);

  SpanExporterStats stats() const;

 private:
  using Clock = std::chrono::steady_clock;

  SpanExporter(SpanExporterOptions options, std::unique_ptr<HttpPost> post);
  void run();
  std::vector<Span> take_some();
  bool send(const std::vector<Span>& spans);
  bool pause(std::chrono::milliseconds longest);
  bool is_late() const;

  const SpanExporterOptions options_;
  const std::unique_ptr<HttpPost> post_;  ///< the thread's
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Span> queue_;  ///< guarded by mutex_, as are the next three
  bool stops_ = false;
  Clock::time_point deadline_ = Clock::time_point::max();  ///< of the last flush
  SpanExporterStats stats_;
  bool has_warned_ = false;  ///< the thread's: the log hears of a silent collector once
  std::thread thread_;       ///< last: it starts when all else stands
};

}  // namespace ferrox
