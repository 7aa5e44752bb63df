// How do events get from the engine thread to who sends them? Through a bounded queue that never makes it wait.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "telemetry/kv_event.h"

namespace ferrox {

struct KvEventStats {
  uint64_t n_told = 0;     ///< events that were queued
  uint64_t n_dropped = 0;  ///< there was no room for, or nobody to send them
};

/// A dropped event takes a number, so that readers see a gap, and the next one that has room comes behind a "cleared":
/// what readers then believe is less than there is, never more.
class KvEventQueue {
 public:
  /// `wake` is called, without any lock, when the queue isn't empty any more: once, until all is taken.
  KvEventQueue(size_t most_bytes, std::function<void()> wake) : most_bytes_(most_bytes), wake_(std::move(wake)) {}

  void push(KvEvent event);
  std::vector<KvEventBatch> take();

  /// Nobody takes any more: what is queued or comes is dropped.
  void close();

  KvEventStats stats() const;

 private:
  void append(KvEvent event);

  const size_t most_bytes_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<KvEventBatch> batches_;  ///< guarded by mutex_, as are the next five
  size_t n_bytes_ = 0;
  uint64_t next_sequence_ = 0;
  bool has_gap_ = false;
  bool is_closed_ = false;
  KvEventStats stats_;
};

}  // namespace ferrox
