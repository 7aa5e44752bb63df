// Does one request after the other get its rows in the same piece of memory, and is what can't be had refused at once?
#include "kv/contiguous_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/sanitized.h"

namespace ferrox {
namespace {

KvLayout layout_of(std::vector<int> windows, int n_kv_heads, int dim) {
  KvLayout layout{{}, 1, DType::kF32, DType::kF32};
  for (const int window : windows) layout.layers.push_back({n_kv_heads, dim, dim, window});
  return layout;
}

/// Writes n rows of every layer as one step, where the tables say.
void step(KvMemory& memory, RequestKv& kv, int64_t n, float value) {
  const int64_t first = kv.length();
  const std::span<const PageTable> tables = kv.begin_step(n);
  for (const KvLayerView& layer : memory.layers()) {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(layer.k_row(tables[0][static_cast<size_t>(first + i)], 0, 0), &value, sizeof value);
    }
  }
  kv.end_step({});
}

TEST(ContiguousMemory, RequestsFollowOneAnother) {
  const std::unique_ptr<KvMemory> memory = *ContiguousMemory::create(layout_of({0, 0}, 1, 1), 100, 16);
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    const std::unique_ptr<RequestKv> kv = memory->take(20, 80);
    ASSERT_TRUE(kv);
    EXPECT_FALSE(memory->take(1, 1)) << "one at a time";
    EXPECT_EQ(kv->length(), 0);
    step(*memory, *kv, 16, value);
    step(*memory, *kv, 4, value);
    const std::byte* rows = memory->layers()[0].k;
    for (int i = 0; i < 80; ++i) step(*memory, *kv, 1, value);
    EXPECT_EQ(memory->layers()[0].k, rows) << "nothing moves inside what was planned";
  }
  EXPECT_FALSE(memory->take(50, 51)) << "more than the context";
  EXPECT_TRUE(memory->take(50, 50));
}

TEST(ContiguousMemory, WindowsDropTheirRowsForEachRequest) {
  const std::unique_ptr<KvMemory> memory = *ContiguousMemory::create(layout_of({4}, 1, 1), 1000, 64);
  for (int request = 0; request < 3; ++request) {
    const std::unique_ptr<RequestKv> kv = memory->take(64, 900);
    step(*memory, *kv, 64, 1.0f);
    for (int i = 0; i < 200; ++i) step(*memory, *kv, 1, 2.0f);
    EXPECT_EQ(kv->length(), 264);
  }
}

/// Address space that no system has: an error with the size, at once and not at the first request.
TEST(ContiguousMemory, WhatTheSystemRefusesIsAnError) {
  if (testing::kIsSanitized) GTEST_SKIP() << "sanitizers abort on such a size";
  const KvLayout layout = layout_of(std::vector<int>(64, 0), 8, 128);
  const auto memory = ContiguousMemory::create(layout, std::numeric_limits<int32_t>::max(), 16);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::kMemoryBudget);
  EXPECT_THAT(memory.error().message, ::testing::HasSubstr("B for 2147483647 positions"));
  EXPECT_FALSE(ContiguousMemory::create(layout, 0, 16));
  EXPECT_FALSE(ContiguousMemory::create(layout, int64_t{1} << 40, 16));
}

}  // namespace
}  // namespace ferrox
