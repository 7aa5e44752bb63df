#include "telemetry/kv_event_queue.h"

#include <chrono>
#include <utility>

namespace ferrox {
namespace {

constexpr size_t kMostEvents = 64;  ///< of one message

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void KvEventQueue::push(KvEvent event) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || n_bytes_ + size_bytes(event) > most_bytes_) {
      ++stats_.n_dropped;
      ++next_sequence_;
      has_gap_ = true;
      return;
    }
    was_empty = batches_.empty();
    const bool had_gap = std::exchange(has_gap_, false);
    if (batches_.empty() || had_gap || batches_.back().events.size() >= kMostEvents) {
      batches_.push_back({next_sequence_++, seconds_since_1970(), {}});
    }
    if (had_gap) append(AllBlocksCleared{});
    append(std::move(event));
  }
  if (was_empty) wake_();
}

void KvEventQueue::append(KvEvent event) {
  n_bytes_ += size_bytes(event);
  batches_.back().events.push_back(std::move(event));
  ++stats_.n_told;
}

std::vector<KvEventBatch> KvEventQueue::take() {
  const std::lock_guard lock(mutex_);
  n_bytes_ = 0;
  return std::exchange(batches_, {});
}

void KvEventQueue::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  for (const KvEventBatch& batch : batches_) {
    stats_.n_told -= batch.events.size();
    stats_.n_dropped += batch.events.size();
  }
  batches_ = {};
  n_bytes_ = 0;
}

KvEventStats KvEventQueue::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace ferrox
