// What did requests take since the start? Durations and counts, taken from their events as they happen.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/request.h"
#include "server/metrics/histogram.h"

namespace ferrox {

/// How a request ended.
enum class RequestEnd { kStop, kLength, kCancelled, kError };
inline constexpr size_t kRequestEnds = 4;

/// Written on the engine thread, read by any. Counts don't wait for each other: a page of them is no instant.
class RequestMetrics : public std::enable_shared_from_this<RequestMetrics> {
 public:
  RequestMetrics();

  /// A sink for one answer: notes each event and passes it on. `arrival`: of its request. It may outlive all but the
  /// metrics, which it holds.
  EventSink follow(std::chrono::steady_clock::time_point arrival, EventSink sink);

  Histogram time_to_first_token;  ///< from arrival
  Histogram inter_token;          ///< from one token to the next of the same request
  Histogram end_to_end;           ///< from arrival to the end, of answers that ended by themselves or by their limit
  Histogram queue_time;           ///< from submission to admission, of requests that were admitted
  std::atomic<uint64_t> n_generated = 0;
  std::array<std::atomic<uint64_t>, kRequestEnds> n_ended{};  ///< by RequestEnd

  void count_end(RequestEnd end) { n_ended[static_cast<size_t>(end)].fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace ferrox
