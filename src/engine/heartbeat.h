// Does the engine thread get on? It says so at each step and between the parts of a pass or of a copy to the tiers;
// others look.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace ferrox {

/// One thread beats and rests, any may ask.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;

  void beat(Clock::time_point now = Clock::now()) { last_.store(now.time_since_epoch().count()); }

  /// There is nothing to do: until the next beat no time counts.
  void rest() { last_.store(kAtRest); }

  /// Time without a beat; zero at rest.
  Clock::duration silence(Clock::time_point now = Clock::now()) const {
    const Clock::rep last = last_.load();
    if (last == kAtRest) return Clock::duration::zero();
    return std::max(Clock::duration::zero(), now.time_since_epoch() - Clock::duration(last));
  }

 private:
  static constexpr Clock::rep kAtRest = 0;  ///< no time point of a machine that runs
  std::atomic<Clock::rep> last_{kAtRest};
};

}  // namespace ferrox
