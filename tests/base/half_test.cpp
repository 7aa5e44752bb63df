// Do 16-bit floats convert exactly? Every one of them, against the definition, in both directions.
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ferrox {
namespace {

struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
};
constexpr Layout kHalf{5, 10};
constexpr Layout kBf16{8, 7};

/// The number that sign, exponent and mantissa stand for.
double value_of(uint32_t bits, const Layout& layout) {
  const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
  const uint32_t magnitude = bits & 0x7fffu;
  const auto exponent = static_cast<int>(magnitude >> layout.mantissa_bits);
  const double mantissa = magnitude & ((1u << layout.mantissa_bits) - 1);
  if (magnitude > layout.infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == layout.infinity()) return sign * HUGE_VAL;
  const double fraction = mantissa / (1 << layout.mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - layout.bias());
  return sign * std::ldexp(1.0 + fraction, exponent - layout.bias());
}

template <class Widen, class Narrow>
void check_every_number(const Layout& layout, const Widen& widen, const Narrow& narrow) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double want = value_of(bits, layout);
    const float got = widen(static_cast<uint16_t>(bits));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
      ASSERT_TRUE(std::isnan(value_of(narrow(got), layout))) << bits;
      continue;
    }
    ASSERT_EQ(double{got}, want) << bits;
    ASSERT_EQ(std::signbit(got), bits >> 15 != 0) << bits;
    ASSERT_EQ(narrow(got), bits);
  }
}

/// The middle of two neighbours goes to the even one, everything else to the nearer one; beyond the largest number the
/// next step would be infinity.
template <class Narrow>
void check_every_middle(const Layout& layout, const Narrow& narrow) {
  for (const uint32_t sign : {0u, 0x8000u}) {
    for (uint32_t magnitude = 0; magnitude < layout.infinity(); ++magnitude) {
      const uint32_t low = sign | magnitude;
      const uint32_t high = low + 1;
      const bool is_largest = magnitude + 1 == layout.infinity();
      const double above = is_largest ? 2 * value_of(low, layout) - value_of(low - 1, layout) : value_of(high, layout);
      const auto middle = static_cast<float>((value_of(low, layout) + above) / 2);
      ASSERT_EQ(narrow(middle), low % 2 == 0 ? low : high) << low;
      ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), low) << low;
      ASSERT_EQ(narrow(std::nextafter(middle, sign != 0 ? -HUGE_VALF : HUGE_VALF)), high) << low;
    }
  }
}

TEST(Half, EveryNumberBothWays) {
  check_every_number(kHalf, half_to_float, float_to_half);
  check_every_number(kBf16, bf16_to_float, float_to_bf16);
}

TEST(Half, EveryMiddleRoundsToEven) {
  check_every_middle(kHalf, float_to_half);
  check_every_middle(kBf16, float_to_bf16);
}

TEST(Half, ExtremesOfFloat) {
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(float_to_half(-std::numeric_limits<float>::max()), 0xfc00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(float_to_half(-std::numeric_limits<float>::denorm_min()), 0x8000);
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  for (const uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffc00000u}) {
    EXPECT_TRUE(std::isnan(half_to_float(float_to_half(std::bit_cast<float>(bits))))) << bits;
    EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(bits))))) << bits;
  }
}

TEST(Half, IsUsableInConstants) {
  static_assert(half_to_float(0x3c00) == 1.0f);
  static_assert(float_to_half(-2.0f) == 0xc000);
  static_assert(bf16_to_float(0x3f80) == 1.0f);
  static_assert(float_to_bf16(1.0f) == 0x3f80);
}

}  // namespace
}  // namespace ferrox
