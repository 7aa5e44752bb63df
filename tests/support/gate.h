// How does a test hold a thread at a chosen place? A gate that counts who came and opens on request.
#pragma once

#include <condition_variable>
#include <mutex>

namespace ferrox::testing {

class Gate {
 public:
  /// Blocks until there is a permit for this arrival.
  void pass() {
    std::unique_lock lock(mutex_);
    ++n_arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this, turn = n_arrived_] { return open_ || turn <= n_permits_; });
  }

  /// Blocks until n arrivals have happened in all.
  void wait_for_arrivals(int n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, n] { return n_arrived_ >= n; });
  }

  /// Lets n more arrivals through.
  void permit(int n) {
    const std::lock_guard lock(mutex_);
    n_permits_ += n;
    changed_.notify_all();
  }

  /// Lets everybody through from now on.
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int n_arrived_ = 0;
  int n_permits_ = 0;
  bool open_ = false;
};

}  // namespace ferrox::testing
