// What does each event of a request say about time?
#include "server/metrics/request_metrics.h"

#include <chrono>
#include <optional>
#include <utility>

namespace ferrox {
namespace {

using MetricsClock = std::chrono::steady_clock;

// vLLM's buckets, so that dashboards and autoscalers made for it need no change.
constexpr double kFirstTokenBounds[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                                        1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
constexpr double kInterTokenBounds[] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
                                        0.75, 1,     2.5,  5,     7.5, 10,   20,  40,  80};
constexpr double kRequestBounds[] = {0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                                     30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680};

double seconds_between(MetricsClock::time_point from, MetricsClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

RequestEnd end_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return RequestEnd::kStop;
    case FinishReason::kLength:
      return RequestEnd::kLength;
    case FinishReason::kCancelled:
      break;
  }
  return RequestEnd::kCancelled;
}

}  // namespace

/// One request's times, on the engine thread.
class RequestClock {
 public:
  RequestClock(std::shared_ptr<RequestMetrics> metrics, MetricsClock::time_point arrival)
      : metrics_(std::move(metrics)), arrival_(arrival) {}

  void note(const Event& event) {
    if (std::holds_alternative<PromptProgressEvent>(event)) was_admitted_ = true;
    if (std::holds_alternative<TokenEvent>(event)) note_token();
    if (const auto* done = std::get_if<DoneEvent>(&event)) note_end(*done);
    if (std::holds_alternative<Error>(event)) metrics_->count_end(RequestEnd::kError);
  }

 private:
  void note_token() {
    const auto now = MetricsClock::now();
    Histogram& histogram = last_token_ ? metrics_->inter_token : metrics_->time_to_first_token;
    histogram.observe(seconds_between(last_token_.value_or(arrival_), now));
    metrics_->n_generated.fetch_add(1, std::memory_order_relaxed);
    last_token_ = now;
  }

  void note_end(const DoneEvent& done) {
    const RequestEnd end = end_of(done.reason);
    metrics_->count_end(end);
    if (was_admitted_) metrics_->queue_time.observe(done.usage.queue_ms / 1000);
    if (end != RequestEnd::kCancelled) metrics_->end_to_end.observe(seconds_between(arrival_, MetricsClock::now()));
  }

  std::shared_ptr<RequestMetrics> metrics_;
  MetricsClock::time_point arrival_;
  std::optional<MetricsClock::time_point> last_token_;
  bool was_admitted_ = false;
};

RequestMetrics::RequestMetrics()
    : time_to_first_token(kFirstTokenBounds),
      inter_token(kInterTokenBounds),
      end_to_end(kRequestBounds),
      queue_time(kRequestBounds) {}

EventSink RequestMetrics::follow(std::chrono::steady_clock::time_point arrival, EventSink sink) {
  return [clock = RequestClock(shared_from_this(), arrival), next = std::move(sink)](Event event) mutable {
    clock.note(event);
    next(std::move(event));
  };
}

}  // namespace ferrox
