// Do arrivals have the rate and the spread that were asked for, the same from the same seed?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "loadgen/arrivals.h"

namespace ferrox {
namespace {

constexpr size_t kArrivals = 10'000;
constexpr double kRate = 25;

// Gaps of a Poisson process have mean 1/rate and deviation 1/rate, so the mean of n has deviation 1/(rate sqrt(n)).
// Five deviations are passed by one run in a million, and the seeds are fixed.
TEST(Arrivals, PoissonHasTheRateAndTheDeviation) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto times = arrival_times_s({ArrivalKind::kPoisson, kRate, seed}, kArrivals);
    ASSERT_EQ(times.size(), kArrivals);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    const auto n = static_cast<double>(kArrivals);
    const double mean = times.back() / n;
    EXPECT_NEAR(mean, 1 / kRate, 5 / (kRate * std::sqrt(n)));
    double squares = 0;
    for (size_t i = 0; i < kArrivals; ++i) {
      const double gap = times[i] - (i == 0 ? 0 : times[i - 1]);
      squares += gap * gap;
    }
    // E[gap^2] = 2/rate^2, and its variance (24 - 4)/rate^4.
    EXPECT_NEAR(squares / n, 2 / (kRate * kRate), 5 * std::sqrt(20 / n) / (kRate * kRate));
  }
}

TEST(Arrivals, ASeedGivesItsTimesAgain) {
  const ArrivalOptions options{ArrivalKind::kPoisson, kRate, 9};
  EXPECT_EQ(arrival_times_s(options, 100), arrival_times_s(options, 100));
  EXPECT_NE(arrival_times_s(options, 100), arrival_times_s({ArrivalKind::kPoisson, kRate, 10}, 100));
}

TEST(Arrivals, AConstantRateHasEqualGaps) {
  EXPECT_EQ(arrival_times_s({ArrivalKind::kConstant, 4, 1}, 5), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
}

}  // namespace
}  // namespace ferrox
