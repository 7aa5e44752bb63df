// Are percentiles what a slow count over the samples says?
#include <gtest/gtest.h>

#include <algorithm>

#include "loadgen/random.h"
#include "loadgen/spread.h"

namespace ferrox {
namespace {

/// The least sample that at least `percent` of a hundred samples don't exceed, by counting.
double slow_percentile(const std::vector<double>& samples, size_t percent) {
  double best = *std::max_element(samples.begin(), samples.end());
  for (const double candidate : samples) {
    const auto n_covered = std::count_if(samples.begin(), samples.end(), [&](double s) { return s <= candidate; });
    if (static_cast<size_t>(n_covered) * 100 >= percent * samples.size()) best = std::min(best, candidate);
  }
  return best;
}

TEST(Spread, PercentilesAreThoseOfASlowCount) {
  LoadRandom random(7, 0);
  for (size_t n = 1; n <= 250; ++n) {
    std::vector<double> samples;
    for (size_t i = 0; i < n; ++i) samples.push_back(static_cast<double>(random.below(n)));  // with repetitions
    const Spread spread = spread_of(samples);
    EXPECT_EQ(spread.n, n);
    EXPECT_EQ(spread.p50, slow_percentile(samples, 50)) << n;
    EXPECT_EQ(spread.p90, slow_percentile(samples, 90)) << n;
    EXPECT_EQ(spread.p95, slow_percentile(samples, 95)) << n;
    EXPECT_EQ(spread.p99, slow_percentile(samples, 99)) << n;
    EXPECT_EQ(spread.max, slow_percentile(samples, 100)) << n;
    double sum = 0;
    for (const double sample : samples) sum += sample;  // whole numbers: exact in any order
    EXPECT_EQ(spread.mean, sum / static_cast<double>(n)) << n;
  }
}

TEST(Spread, NoSampleGivesZeroes) {
  const Spread spread = spread_of({});
  EXPECT_EQ(spread.n, 0u);
  EXPECT_EQ(spread.max, 0);
}

}  // namespace
}  // namespace ferrox
