// Are positions turned into the rotations that the papers define?
#include "nn/rope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "support/random_weights.h"

namespace ferrox {
namespace {

constexpr double kHalfUlp = 0x1p-24;

/// Rotates pair (a, b) as the complex number a + ib.
void expect_rotated(const std::vector<float>& before, const std::vector<float>& after, size_t a, size_t b, double angle,
                    double magnitude) {
  const std::complex<double> pair(before[a], before[b]);
  const std::complex<double> turned = pair * std::polar(magnitude, angle);
  const double bound = 5 * kHalfUlp * 1.5 * std::abs(pair) * magnitude;
  EXPECT_NEAR(after[a], turned.real(), bound) << "element " << a;
  EXPECT_NEAR(after[b], turned.imag(), bound) << "element " << b;
}

TEST(Rope, FrequenciesFallGeometrically) {
  const std::vector<double> frequencies = rope_frequencies(64, 10000.0, {});
  ASSERT_EQ(frequencies.size(), 32u);
  EXPECT_EQ(frequencies[0], 1.0);
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_NEAR(frequencies[i] * std::exp(std::log(10000.0) * static_cast<double>(i) / 32), 1.0, 1e-12);
  }
}

TEST(Rope, DivisorsDivide) {
  const std::vector<float> divisors = {1.0f, 2.0f, 8.0f, 32.0f};
  const std::vector<double> plain = rope_frequencies(8, 500000.0, {});
  const std::vector<double> divided = rope_frequencies(8, 500000.0, divisors);
  for (size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(divided[i] * static_cast<double>(divisors[i]), plain[i]);
}

TEST(Rope, PairsAreNeighboursOrHalves) {
  for (const RopePairs pairs : {RopePairs::kInterleaved, RopePairs::kHalves}) {
    const Rope rope{pairs, rope_frequencies(20, 10000.0, {}), 1.25f};
    RopeAngles angles(rope, 3);
    for (const int64_t position : {0, 1, 77, 4095, 131071}) {
      const std::vector<float> before = testing::random_floats(24, 1.0f, 5);  // 20 of 24 elements are rotated
      std::vector<float> after = before;
      angles.set_row(2, position);
      angles.rotate(2, after.data());
      for (size_t i = 0; i < 10; ++i) {
        const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * static_cast<double>(i) / 20);
        const bool interleaved = pairs == RopePairs::kInterleaved;
        expect_rotated(before, after, interleaved ? 2 * i : i, interleaved ? 2 * i + 1 : i + 10, angle, 1.25);
      }
      for (size_t i = 20; i < 24; ++i) EXPECT_EQ(after[i], before[i]) << "not rotated";
    }
  }
}

TEST(Rope, RowsKeepTheirOwnPositions) {
  const Rope rope{RopePairs::kHalves, rope_frequencies(8, 10000.0, {}), 1.0f};
  RopeAngles batch(rope, 3);
  for (int64_t row = 0; row < 3; ++row) batch.set_row(row, 100 * row + 7);
  for (int64_t row = 0; row < 3; ++row) {
    RopeAngles alone(rope, 1);
    alone.set_row(0, 100 * row + 7);
    std::vector<float> in_batch = testing::random_floats(8, 1.0f, 1);
    std::vector<float> by_itself = in_batch;
    batch.rotate(row, in_batch.data());
    alone.rotate(0, by_itself.data());
    EXPECT_EQ(in_batch, by_itself);
  }
}

/// A rotation keeps q . k a function of the distance alone.
TEST(Rope, ScoresDependOnDistance) {
  const Rope rope{RopePairs::kInterleaved, rope_frequencies(64, 10000.0, {}), 1.0f};
  RopeAngles angles(rope, 2);
  const auto score = [&](int64_t q_position, int64_t k_position) {
    std::vector<float> q = testing::random_floats(64, 1.0f, 1);
    std::vector<float> k = testing::random_floats(64, 1.0f, 2);
    angles.set_row(0, q_position);
    angles.set_row(1, k_position);
    angles.rotate(0, q.data());
    angles.rotate(1, k.data());
    double sum = 0.0;
    for (size_t i = 0; i < 64; ++i) sum += double{q[i]} * k[i];
    return sum;
  };
  EXPECT_NEAR(score(10, 3), score(1010, 1003), 1e-4);
  EXPECT_GT(std::abs(score(10, 3) - score(10, 4)), 1e-3);
}

/// The paper's words: pair i turns L * f_i / 2 pi times in the original context L. Where it turns more than beta_fast
/// times it stays, less than beta_slow times it is divided by the factor; between, a ramp over pair numbers whose ends
/// are the whole pairs around the two limits.
TEST(Yarn, RampsBetweenTheTwoLimits) {
  const double base = 10000.0;
  const double context = 4096.0;
  const double factor = 8.0;
  const std::vector<double> plain = rope_frequencies(128, base, {});
  Rope rope{RopePairs::kHalves, plain, 1.0f};
  apply_yarn({.factor = factor, .original_context = context}, base, rope);
  const auto turns = [&](size_t i) { return context * plain[i] / (2 * std::numbers::pi); };
  size_t last_fast = 0;    // the last pair that still turns 32 times
  size_t first_slow = 63;  // the first that turns at most once
  while (turns(last_fast + 1) >= 32.0) ++last_fast;
  while (turns(first_slow - 1) <= 1.0) --first_slow;
  ASSERT_LT(last_fast, first_slow);
  for (size_t i = 0; i < 64; ++i) {
    const double along = std::clamp(
        (static_cast<double>(i) - static_cast<double>(last_fast)) / static_cast<double>(first_slow - last_fast), 0.0,
        1.0);
    const double want = plain[i] * (1 - along) + plain[i] / factor * along;
    EXPECT_NEAR(rope.frequencies[i], want, 1e-12 * plain[i]) << "pair " << i;
  }
  EXPECT_EQ(rope.frequencies[0], plain[0]);
  EXPECT_DOUBLE_EQ(rope.frequencies[63], plain[63] / factor);
  EXPECT_NEAR(rope.magnitude, 0.1 * std::log(factor) + 1.0, 1e-6);
}

TEST(Yarn, WithoutExtrapolationItIsLinear) {
  const std::vector<double> plain = rope_frequencies(64, 10000.0, {});
  Rope rope{RopePairs::kHalves, plain, 1.0f};
  apply_yarn({.factor = 4.0, .original_context = 2048.0, .ext_factor = 0.0, .attn_factor = 1.5}, 10000.0, rope);
  for (size_t i = 0; i < 32; ++i) EXPECT_DOUBLE_EQ(rope.frequencies[i], plain[i] / 4);
  EXPECT_EQ(rope.magnitude, 1.5f);
}

}  // namespace
}  // namespace ferrox
