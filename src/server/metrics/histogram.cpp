// Which bucket does a duration belong to?
#include "server/metrics/histogram.h"

#include <algorithm>

namespace ferrox {

Histogram::Histogram(std::span<const double> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

void Histogram::observe(double seconds) {
  const auto bucket = std::ranges::lower_bound(bounds_, seconds) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_s_.fetch_add(seconds, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot taken{bounds_, {}, sum_s_.load(std::memory_order_relaxed)};
  for (const auto& count : counts_) taken.counts.push_back(count.load(std::memory_order_relaxed));
  return taken;
}

}  // namespace ferrox
