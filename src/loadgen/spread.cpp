#include "loadgen/spread.h"

#include <algorithm>
#include <numeric>

namespace ferrox {

double percentile_of_sorted(const std::vector<double>& sorted, size_t percent) {
  const size_t rank = (percent * sorted.size() + 99) / 100;
  return sorted[rank - 1];
}

Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  Spread spread;
  spread.n = samples.size();
  spread.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  spread.p50 = percentile_of_sorted(samples, 50);
  spread.p90 = percentile_of_sorted(samples, 90);
  spread.p95 = percentile_of_sorted(samples, 95);
  spread.p99 = percentile_of_sorted(samples, 99);
  spread.max = samples.back();
  return spread;
}

}  // namespace ferrox
