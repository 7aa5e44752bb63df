// Are rows of K and V kept as their element types say, close to what they were, with the same bits everywhere?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "kernels/guarded_memory.h"
#include "kernels/scalar_kv_row.h"
#include "kernels/supported_isas.h"
#include "support/random_weights.h"
#include "tensor/kv_type.h"

namespace ferrox {
namespace {

using testing::Guarded;

const std::vector<DType>& block_types() {
  static const std::vector<DType> types = {DType::kQ8_0, DType::kQ4_0, DType::kTurbo4};
  return types;
}

std::vector<std::byte> stored(const KernelTable& table, const std::vector<float>& x, DType dtype) {
  const KvType& type = *find_kv_type(dtype);
  const Guarded<float> row(x);
  const Guarded<std::byte> out(x.size() / static_cast<size_t>(type.block_elements) *
                               static_cast<size_t>(type.block_bytes));
  table.store_row(row.data(), static_cast<int64_t>(x.size()), dtype, out.data());
  return out.copy();
}

std::vector<float> loaded(const KernelTable& table, const std::vector<std::byte>& bytes, int64_t n, DType dtype) {
  const Guarded<std::byte> row(bytes);
  const Guarded<float> out(static_cast<size_t>(n));
  table.load_row(row.data(), n, dtype, out.data());
  return out.copy();
}

/// Rows of even numbers, of outliers, of zeros and of tiny numbers.
std::vector<std::vector<float>> sample_rows(int64_t n) {
  std::vector<std::vector<float>> rows;
  for (uint32_t seed = 0; seed < 20; ++seed) rows.push_back(testing::random_floats(n, 1.0f, seed));
  rows.push_back(testing::random_floats(n, 1.0f, 99));
  rows.back()[static_cast<size_t>(n / 2)] = -40.0f;
  rows.emplace_back(static_cast<size_t>(n), 0.0f);
  rows.push_back(testing::random_floats(n, 1e-7f, 5));
  rows.push_back(testing::random_floats(n, 1000.0f, 6));
  return rows;
}

TEST(KvRows, BitsAreTheStatementsEverywhere) {
  for (const DType dtype : block_types()) {
    for (const int64_t n : {32, 64, 96, 128, 192, 576}) {
      for (const std::vector<float>& x : sample_rows(n)) {
        const std::vector<std::byte> want = testing::scalar_store_row(x, dtype);
        for (const KernelTable* table : testing::supported_isas()) {
          const std::vector<std::byte> got = stored(*table, x, dtype);
          ASSERT_EQ(got, want) << table->name << ", type " << static_cast<int>(dtype) << ", " << n;
          ASSERT_EQ(loaded(*table, got, n, dtype), testing::scalar_load_row(want, n, dtype)) << table->name;
        }
      }
    }
  }
}

/// Every code of a block comes back as the format's own decoder reads it.
TEST(KvRows, BlocksOfFilesAndOfMemoryAreTheSame) {
  for (const DType dtype : {DType::kQ8_0, DType::kQ4_0}) {
    const FormatInfo& format = *find_format(dtype);
    const std::vector<std::byte> bytes = testing::random_blocks(format, 64, 3.0f, 1);
    std::vector<float> want(64 * 32);
    format.decode(bytes.data(), want.data(), static_cast<int64_t>(want.size()));
    for (const KernelTable* table : testing::supported_isas()) {
      EXPECT_EQ(loaded(*table, bytes, 64 * 32, dtype), want) << table->name;
    }
  }
}

/// Half a step of the code, and what the scale loses as F16: a part of 2^11, or half of the smallest. Rotated rows are
/// compared rotated.
TEST(KvRows, NumbersStayClose) {
  for (const DType dtype : block_types()) {
    const double half_step = dtype == DType::kQ8_0 ? 0.5 / 127 : dtype == DType::kQ4_0 ? 0.5 / 8 : 0.102;
    for (const std::vector<float>& x : sample_rows(64)) {
      const KernelTable& table = *testing::supported_isas().front();
      std::vector<float> back = loaded(table, stored(table, x, dtype), 64, dtype);
      const std::vector<float> exact = dtype == DType::kTurbo4 ? testing::rotated(x) : x;
      for (size_t i = 0; i < x.size(); ++i) {
        float top = 0.0f;
        for (size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) top = std::max(top, std::abs(exact[j]));
        // -8 has no +8 beside it: the opposite end is off by up to a whole step.
        const double step = dtype == DType::kQ4_0 ? 2 * half_step : half_step;
        ASSERT_NEAR(back[i], exact[i], top * (step + 0x1p-10) + 128 * 0x1p-25) << "type " << static_cast<int>(dtype);
      }
    }
  }
}

TEST(KvRows, RotationIsItsOwnInverse) {
  for (const size_t n : {32u, 96u, 128u, 160u}) {
    const std::vector<float> x = testing::random_floats(static_cast<int64_t>(n), 1.0f, 3);
    const std::vector<float> back = testing::rotated(testing::rotated(x));
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(back[i], x[i], 1e-5);
  }
}

/// One outlier in a row costs turbo4 less than q4_0: that is what the rotation is for.
TEST(KvRows, RotationSpreadsOutliers) {
  std::vector<float> x = testing::random_floats(128, 1.0f, 8);
  x[7] = 60.0f;
  const auto error = [&](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); ++i) sum += std::pow(a[i] - b[i], 2);
    return sum;
  };
  const KernelTable& table = *testing::supported_isas().front();
  const double plain = error(loaded(table, stored(table, x, DType::kQ4_0), 128, DType::kQ4_0), x);
  const double turbo = error(loaded(table, stored(table, x, DType::kTurbo4), 128, DType::kTurbo4), testing::rotated(x));
  EXPECT_LT(turbo, plain);
}

TEST(KvRows, WhatIsNoNumberShows) {
  for (const KernelTable* table : testing::supported_isas()) {
    for (const DType dtype : block_types()) {
      for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        std::vector<float> x = testing::random_floats(64, 1.0f, 1);
        x[40] = poison;
        const std::vector<float> back = loaded(*table, stored(*table, x, dtype), 64, dtype);
        for (size_t i = 32; i < 64; ++i) EXPECT_TRUE(std::isnan(back[i])) << table->name << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace ferrox
