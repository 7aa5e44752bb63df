#include "server/metrics/caller_metrics.h"

#include <utility>

#include "server/keys/key_ring.h"

namespace ferrox {
namespace {

/// One answer's counting, on the engine thread.
class CallerTally {
 public:
  CallerTally(CallerCounts& counts, bool leads) : counts_(counts), leads_(leads) {}

  void note(const Event& event) {
    if (const auto* progress = std::get_if<PromptProgressEvent>(&event)) note_prompt(*progress);
    if (std::holds_alternative<TokenEvent>(event)) counts_.n_generated.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  /// The first event tells all of it.
  void note_prompt(const PromptProgressEvent& progress) {
    if (!std::exchange(leads_, false)) return;
    counts_.n_prompt.fetch_add(static_cast<uint64_t>(progress.n_prompt), std::memory_order_relaxed);
    counts_.n_cached.fetch_add(static_cast<uint64_t>(progress.n_cached), std::memory_order_relaxed);
  }

  CallerCounts& counts_;
  bool leads_;
};

}  // namespace

CallerMetrics::CallerMetrics(const KeyRing& keys) {
  for (const ApiKey& key : keys.keys()) by_name_[key.name];
}

CallerCounts* CallerMetrics::find(const std::string& name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

EventSink CallerMetrics::follow(CallerCounts* counts, bool leads, EventSink next) {
  if (counts == nullptr) return next;
  return [self = shared_from_this(), tally = CallerTally(*counts, leads), then = std::move(next)](Event event) mutable {
    tally.note(event);
    then(std::move(event));
  };
}

}  // namespace ferrox
