// Who waits for room, in which order, and until when? A bounded queue of request numbers.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"

namespace ferrox {

using TimePoint = std::chrono::steady_clock::time_point;

/// A request that was priced and has no pages yet.
struct QueuedRequest {
  uint64_t id;
  std::vector<int64_t> pages;  ///< of each attention kind: what it takes when it is admitted
  TimePoint deadline;          ///< TimePoint::max(): it waits as long as it takes
  int32_t n_choices = 1;       ///< answers that are admitted together, each in a slot of its own
};

/// First in, first out. `ids` is the one place that decides whose turn it is.
class RequestQueue {
 public:
  explicit RequestQueue(int32_t max_waiting) : max_waiting_(max_waiting) {}

  /// Answers that wait.
  int32_t size() const;
  bool empty() const { return waiting_.empty(); }

  /// Whether n_choices more may wait; what push refuses otherwise.
  Result<void> check_room(int32_t n_choices, int32_t n_open_slots) const;

  /// Appends, or refuses with kUnavailable naming depth and cap. `n_open_slots` answers more than the cap may enter:
  /// they don't wait, the next step admits them.
  Result<void> push(const QueuedRequest& request, int32_t n_open_slots);

  /// Those that wait, in the order in which it is their turn.
  std::vector<uint64_t> ids() const;

  /// Removes one; false when it isn't here.
  bool remove(uint64_t id);

  /// Removes those whose deadline is at or before `now` and gives their numbers, oldest first.
  std::vector<uint64_t> take_expired(TimePoint now);

 private:
  int32_t max_waiting_;
  std::deque<QueuedRequest> waiting_;
};

}  // namespace ferrox
