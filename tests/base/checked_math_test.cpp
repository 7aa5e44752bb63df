// Does arithmetic on a stranger's numbers say when it no longer fits?
#include "base/checked_math.h"

#include <gtest/gtest.h>

namespace ferrox {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

__extension__ using Wide = unsigned __int128;

TEST(CheckedMath, AgreesWithTwiceTheBits) {
  const uint64_t numbers[] = {0,
                              1,
                              2,
                              3,
                              255,
                              uint64_t{1} << 31,
                              uint64_t{1} << 32,
                              (uint64_t{1} << 32) + 1,
                              uint64_t{1} << 63,
                              kMost / 3,
                              kMost - 1,
                              kMost};
  for (const uint64_t a : numbers) {
    for (const uint64_t b : numbers) {
      const Wide product = Wide{a} * b;
      const Wide sum = Wide{a} + b;
      EXPECT_EQ(checked_mul(a, b).has_value(), product <= kMost) << a << " * " << b;
      EXPECT_EQ(checked_add(a, b).has_value(), sum <= kMost) << a << " + " << b;
      EXPECT_EQ(saturating_mul(a, b), product <= kMost ? static_cast<uint64_t>(product) : kMost);
      EXPECT_EQ(saturating_add(a, b), sum <= kMost ? static_cast<uint64_t>(sum) : kMost);
      if (b != 0) {
        EXPECT_EQ(ceil_div(a, b), static_cast<uint64_t>((Wide{a} + b - 1) / b)) << a << " / " << b;
      }
    }
  }
}

TEST(CheckedMath, GivesTheValueThatFits) {
  EXPECT_EQ(checked_mul(6, 7), 42u);
  EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_add(kMost, 1), std::nullopt);
}

}  // namespace
}  // namespace ferrox
