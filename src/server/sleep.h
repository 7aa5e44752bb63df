// Does the server sleep? Because it was told to, until it is told otherwise; or for want of work, until some comes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "engine/sleep_level.h"

namespace ferrox {

/// Books only; time is passed in. I/O thread only, but for refuses().
class SleepState {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit SleepState(Time now) : active_at_(now) {}

  /// It was told to sleep: from now on it refuses. Gives the number of this order.
  uint64_t order_sleep();
  /// Whether no later order came, to sleep or to wake.
  bool is_valid(uint64_t order) const { return order == order_; }
  /// Memory was given back: all that ran has ended after an order, or there was nothing to do, and the next request is
  /// served.
  void fall_asleep(SleepLevel level);
  /// It was told to wake. Whether it slept, or was about to.
  bool order_wake(Time now);
  /// Somebody asks for something, which ends a doze, or ends.
  void note_activity(Time now);

  /// Any thread.
  bool refuses() const { return refuses_; }
  bool is_asleep() const { return level_.has_value(); }
  std::optional<SleepLevel> level() const { return level_; }
  uint64_t n_sleeps() const { return n_sleeps_; }
  Time active_at() const { return active_at_; }

 private:
  uint64_t order_ = 0;
  std::atomic<bool> refuses_ = false;
  std::optional<SleepLevel> level_;
  uint64_t n_sleeps_ = 0;
  Time active_at_;
};

/// Something is done for a client: activity, from its beginning to its end.
class Activity {
 public:
  explicit Activity(SleepState& sleep) : sleep_(sleep) { note(); }
  ~Activity() { note(); }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  void note() { sleep_.note_activity(SleepState::Time::clock::now()); }

  SleepState& sleep_;
};

}  // namespace ferrox
