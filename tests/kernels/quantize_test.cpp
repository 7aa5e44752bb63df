// Does quantising activations do what its definition says, in every instruction set?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "kernels/guarded_memory.h"
#include "kernels/scalar_quantize.h"
#include "kernels/supported_isas.h"
#include "support/random_weights.h"

namespace ferrox {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Blocks of a row, `stride` blocks apart as in a batch of that many rows, right before a guard page.
std::vector<ActBlock> quantize(const KernelTable& table, const std::vector<float>& row, ActKind kind, size_t stride) {
  const testing::Guarded<float> x(row);
  const size_t n_blocks = (row.size() + kKBlock - 1) / kKBlock;
  const testing::Guarded<ActBlock> blocks((n_blocks - 1) * stride + 1);
  table.quantize(x.data(), static_cast<int64_t>(row.size()), kind, blocks.data(), static_cast<int64_t>(stride));
  std::vector<ActBlock> out;
  for (size_t i = 0; i < n_blocks; ++i) out.push_back(blocks.data()[i * stride]);
  return out;
}

template <class T, size_t kN>
std::vector<T> listed(const T (&values)[kN]) {
  return {values, values + kN};
}

void expect_same(const ActBlock& got, const ActBlock& want) {
  EXPECT_EQ(got.d, want.d);
  EXPECT_EQ(listed(got.q), listed(want.q));
  EXPECT_EQ(listed(got.sum16), listed(want.sum16));
  EXPECT_EQ(listed(got.sum32), listed(want.sum32));
  EXPECT_EQ(listed(got.shift), listed(want.shift));
}

void expect_definition(const std::vector<float>& row) {
  for (const KernelTable* table : testing::supported_isas()) {
    for (const ActKind kind : {ActKind::kInt8, ActKind::kInt8Pow2}) {
      SCOPED_TRACE(fmt::format("{}, kind {}, {} activations", table->name, static_cast<int>(kind), row.size()));
      const auto want = testing::scalar_quantize(row.data(), static_cast<int64_t>(row.size()), kind);
      const auto got = quantize(*table, row, kind, 3);
      for (size_t i = 0; i < want.size(); ++i) expect_same(got[i], want[i]);
    }
  }
}

TEST(Quantize, EveryLengthMatchesTheDefinition) {
  for (int64_t n = 1; n <= 300 && !::testing::Test::HasFailure(); ++n) {
    expect_definition(testing::random_floats(n, 2.0f, static_cast<uint32_t>(n)));
  }
  expect_definition(testing::random_floats(2048 + 96, 1e-3f, 5));
}

TEST(Quantize, SizesFromTinyToHugeMatchTheDefinition) {
  for (const float size : {1e-38f, 1e-31f, 1.1e-30f, 1e-20f, 1.0f, 1e20f, 1e37f}) {
    SCOPED_TRACE(size);
    expect_definition(testing::random_floats(256, size, 3));
  }
}

TEST(Quantize, ExactPowersOfTwoTakeTheLeastShift) {
  std::vector<float> row(256, 0.0f);
  for (int j = 0; j < 8; ++j) row[static_cast<size_t>(32 * j)] = std::ldexp(3.0f, -2 * j);
  expect_definition(row);
  const auto blocks = quantize(*testing::supported_isas().front(), row, ActKind::kInt8Pow2, 1);
  EXPECT_EQ(listed(blocks[0].shift), (std::vector<uint8_t>{8, 6, 4, 2, 0, 0, 0, 0}));
}

TEST(Quantize, AnOutlierLeavesOtherGroupsTheirPrecision) {
  std::vector<float> row = testing::random_floats(256, 1.0f, 9);
  row[40] = 300.0f;
  expect_definition(row);
  for (const KernelTable* table : testing::supported_isas()) {
    const ActBlock block = quantize(*table, row, ActKind::kInt8Pow2, 1)[0];
    for (int i = 64; i < 256; ++i) {
      const double back = double{block.d} * (1 << block.shift[i / 32]) * block.q[i];
      const double step = double{block.d} * (1 << block.shift[i / 32]);
      ASSERT_NEAR(back, row[static_cast<size_t>(i)], 0.5001 * step);
      ASSERT_LT(step, 300.0 / 127 / 32);
    }
  }
}

TEST(Quantize, ZerosAreZeros) {
  expect_definition(std::vector<float>(256, 0.0f));
  for (const KernelTable* table : testing::supported_isas()) {
    const ActBlock block = quantize(*table, std::vector<float>(300, -0.0f), ActKind::kInt8Pow2, 1)[1];
    EXPECT_EQ(block.d, 0.0f);
    EXPECT_EQ(listed(block.q), std::vector<int8_t>(256, 0));
  }
}

/// Wherever it stands: the block's d says so, and its neighbours stay as they are.
TEST(Quantize, ANumberThatIsNotFiniteShows) {
  for (const KernelTable* table : testing::supported_isas()) {
    SCOPED_TRACE(table->name);
    for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
      for (size_t at = 0; at < 256; ++at) {
        std::vector<float> row = testing::random_floats(600, 1.0f, 1);
        const auto clean = quantize(*table, row, ActKind::kInt8Pow2, 1);
        row[256 + at] = bad;
        const auto blocks = quantize(*table, row, ActKind::kInt8Pow2, 1);
        ASSERT_TRUE(std::isnan(blocks[1].d)) << bad << " at " << at << ": d is " << blocks[1].d;
        ASSERT_EQ(std::count(std::begin(blocks[1].q), std::end(blocks[1].q), 0), 256) << bad << " at " << at;
        expect_same(blocks[0], clean[0]);
        expect_same(blocks[2], clean[2]);
      }
    }
    std::vector<float> tail(5, 1.0f);
    tail[2] = kNan;
    EXPECT_TRUE(std::isnan(quantize(*table, tail, ActKind::kInt8, 1)[0].d));
  }
}

}  // namespace
}  // namespace ferrox
