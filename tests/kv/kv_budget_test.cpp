// Do the prices of published shapes come out, and does the search for a context end where the division does?
#include "kv/kv_budget.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace ferrox {
namespace {

/// Every period-th layer is full, the others slide.
KvLayout alternating(int n_layers, int n_kv_heads, int dim, int window, int period) {
  KvLayout layout{{}, 1, DType::kF32, DType::kF32};
  for (int i = 0; i < n_layers; ++i) {
    layout.layers.push_back({n_kv_heads, dim, dim, (i + 1) % period == 0 ? 0 : window});
  }
  return layout;
}

TEST(KvBudget, Gemma3_4B) {
  const KvLayout layout = alternating(34, 4, 256, 1024, 6);
  EXPECT_EQ(kv_full_bytes(layout, 32768), 9126805504u);
  EXPECT_EQ(kv_resting_bytes(layout, 32768), 1692590080u);
  EXPECT_EQ(kv_peak_bytes(layout, 32768), 1962934272u);
}

TEST(KvBudget, GptOss20B) { EXPECT_EQ(kv_full_bytes(alternating(24, 8, 64, 128, 1), 131072), 12884901888u); }

TEST(KvBudget, ElementsOfEachKindOfAttention) {
  EXPECT_EQ(elements_grouped(8, 128, 128), 2048u);
  EXPECT_EQ(elements_latent(512, 64), 576u);
  EXPECT_EQ(elements_expanded(128, 128, 64, 128), 40960u);
  EXPECT_EQ(elements_grouped(std::numeric_limits<uint64_t>::max(), 2, 2), std::numeric_limits<uint64_t>::max());
}

TEST(KvBudget, PeakLiesBetweenRestAndFullAndNeverFalls) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 40; ++trial) {
    const KvLayout layout = alternating(1 + static_cast<int>(random() % 9), 2, 8, 1 + static_cast<int>(random() % 40),
                                        1 + static_cast<int>(random() % 5));
    uint64_t before = 0;
    for (int64_t t = 0; t < 300; ++t) {
      const uint64_t peak = kv_peak_bytes(layout, t);
      ASSERT_GE(peak, before) << t;
      ASSERT_GE(peak, kv_resting_bytes(layout, t)) << t;
      ASSERT_LE(peak, kv_full_bytes(layout, t)) << t;
      before = peak;
    }
  }
  const KvLayout full = alternating(4, 2, 8, 8, 1);
  EXPECT_EQ(kv_peak_bytes(full, 1000), kv_full_bytes(full, 1000)) << "nothing is dropped";
}

TEST(KvBudget, LargestContextIsRoundUnlessItIsSmall) {
  const auto bytes = [](int64_t t) { return static_cast<uint64_t>(t) * 10; };
  EXPECT_EQ(largest_context(bytes, 10000, 100000), 768);
  EXPECT_EQ(largest_context(bytes, 1000, 100000), 100);
  EXPECT_EQ(largest_context(bytes, 0, 100000), 0);
  EXPECT_EQ(largest_context(bytes, 1'000'000, 1000), 1000) << "never more than the trained one";
  for (uint64_t available = 0; available < 30000; available += 7) {
    const auto division = static_cast<int64_t>(available / 10);
    EXPECT_EQ(largest_context(bytes, available, 1 << 20), division < 256 ? division : division / 256 * 256);
  }
}

TEST(KvBudget, TheLargestContextOfAnyNumber) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto bytes = [](int64_t t) { return static_cast<uint64_t>(t); };
  EXPECT_EQ(largest_context(bytes, 1000, kMax), 768);
  EXPECT_EQ(largest_context(bytes, std::numeric_limits<uint64_t>::max(), kMax), kMax);
  EXPECT_EQ(largest_context(bytes, 1000, 0), 0);
  EXPECT_EQ(largest_context(bytes, 1000, -1), 0);
  EXPECT_EQ(largest_context(bytes, 1000, 1000), 1000) << "all of the trained one";
}

}  // namespace
}  // namespace ferrox
