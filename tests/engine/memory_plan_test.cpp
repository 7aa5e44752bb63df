// Is a load that can't fit refused with its arithmetic, and what fits given as much as was asked?
#include "engine/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "support/temp_folder.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;

/// A position costs 64 bytes, a page of 4 costs 256.
MemoryQuestion question() {
  MemoryQuestion q{};
  q.layout = {{{.n_kv_heads = 1, .k_dim = 8, .v_dim = 8}}, 4, DType::kF32, DType::kF32};
  q.trained_context = 1000;
  q.n_parallel = 4;
  q.budget_bytes = 1'000'000;
  q.weight_bytes = 100'000;
  q.scratch_bytes = 100'000;
  return q;
}

// M3: without a prefix cache no page is there for snapshots of a recurrent state.
TEST(MemoryPlan, NobodyTakesSnapshotsWithoutAPrefixCache) {
  MemoryQuestion q = question();
  q.layout.state_floats = 8;
  for (const uint64_t kv_bytes : {uint64_t{0}, uint64_t{100'000}}) {
    q.kv_bytes = kv_bytes;
    q.keeps_prefixes = true;
    EXPECT_GT(plan_memory(q)->terms.n_pages.back(), q.n_parallel);
    q.keeps_prefixes = false;
    EXPECT_EQ(plan_memory(q)->terms.n_pages.back(), q.n_parallel);
  }
}

TEST(MemoryPlan, AtMostAllContextsWhenThereIsRoom) {
  const MemoryPlan plan = *plan_memory(question());
  EXPECT_EQ(plan.context_length, 1000);
  EXPECT_EQ(plan.terms.n_pages, std::vector<int32_t>{4 * 250});
}

TEST(MemoryPlan, HalfOfWhatIsLeftWhenThereIsNot) {
  MemoryQuestion q = question();
  q.n_parallel = 100;
  EXPECT_EQ(plan_memory(q)->terms.n_pages, std::vector<int32_t>{400'000 / 256});
  q.budget_bytes = 300'000;  // half of what is left: 50,000 bytes
  const MemoryPlan plan = *plan_memory(q);
  EXPECT_EQ(plan.terms.n_pages, std::vector<int32_t>{195});
  EXPECT_EQ(plan.context_length, 780) << "what one request can hold in the store";
}

TEST(MemoryPlan, ANamedContextGetsItsPages) {
  MemoryQuestion q = question();
  q.budget_bytes = 300'000;
  q.context_length = 1000;
  const MemoryPlan plan = *plan_memory(q);
  EXPECT_EQ(plan.terms.n_pages, std::vector<int32_t>{250});
  EXPECT_EQ(plan.context_length, 1000);
}

TEST(MemoryPlan, WhatDoesntFitIsRefusedWithEveryTerm) {
  MemoryQuestion q = question();
  q.context_length = 100'000;
  const Error error = plan_memory(q).error();
  EXPECT_EQ(error.code, ErrorCode::kMemoryBudget);
  EXPECT_THAT(error.message,
              HasSubstr("weights 97.7 KiB + KV 6.10 MiB (100000 positions) + scratch 97.7 KiB > budget 977 KiB"));
  EXPECT_THAT(error.message, HasSubstr("the largest context that fits is 1000 positions"));
  q = question();
  q.budget_bytes = 150'000;
  EXPECT_THAT(plan_memory(q).error().message, HasSubstr("the largest context that fits is 0 positions"));
}

TEST(MemoryPlan, ANamedStoreIsTakenAsItIs) {
  MemoryQuestion q = question();
  q.kv_bytes = 10'000;
  EXPECT_EQ(plan_memory(q)->terms.n_pages, std::vector<int32_t>{39});
  EXPECT_EQ(plan_memory(q)->context_length, 156);
  q.kv_bytes = 900'000;
  EXPECT_EQ(plan_memory(q).error().code, ErrorCode::kMemoryBudget);
  q.kv_bytes = 100;
  EXPECT_EQ(plan_memory(q).error().message, "size of the KV store: expected at least 256 B for one page, found 100 B");
  q.storage = KvStorage::kContiguous;
  q.context_length = 10;
  EXPECT_EQ(plan_memory(q).error().message,
            "size of the KV store: expected at least 640 B for its context, found 100 B");
}

/// A sliding layer beside a full one: each kind gets what requests of the context have use for.
MemoryQuestion alternating() {
  MemoryQuestion q = question();
  q.layout.layers.push_back({.n_kv_heads = 1, .k_dim = 8, .v_dim = 8, .window = 8});
  q.chunk_rows = 16;
  return q;
}

TEST(MemoryPlan, SlidingKindsStopGrowingAtWhatAllRequestsHold) {
  MemoryQuestion q = alternating();
  q.budget_bytes = 10'000'000;
  const MemoryPlan plan = *plan_memory(q);
  EXPECT_EQ(plan.terms.n_pages, (std::vector<int32_t>{4 * 250, 4 * 54}));  // 16 + 8 + 4 + 184 + 4 positions held
  EXPECT_EQ(plan.context_length, 1000);
  EXPECT_EQ(plan.kv_bytes, 256u * (1000 + 216));
  q.budget_bytes = 400'000;  // 100,000 bytes for KV
  const MemoryPlan tight = *plan_memory(q);
  EXPECT_EQ(tight.terms.n_pages, (std::vector<int32_t>{250, 140}));
  EXPECT_LE(tight.kv_bytes, 100'000u);
  EXPECT_EQ(tight.context_length, 1000);
  q.budget_bytes = 300'000;  // not one request of the trained context
  const MemoryPlan small = *plan_memory(q);
  EXPECT_LE(small.kv_bytes, 50'000u);
  EXPECT_LT(small.context_length, 1000);
  EXPECT_EQ(small.context_length, small.store_context);
}

TEST(MemoryPlan, TheDerivationCanBeRedone) {
  const MemoryQuestion q = alternating();
  const MemoryPlan plan = *plan_memory(q);
  std::string text;
  for (const std::string& line : explain_plan(q, plan)) text += line + "\n";
  EXPECT_THAT(text, HasSubstr("budget 977 KiB - weights 97.7 KiB - scratch 97.7 KiB = 781 KiB for KV"));
  EXPECT_THAT(text, HasSubstr("full attention: 1000 pages of 4 positions, 256 B each = 250 KiB"));
  EXPECT_THAT(text, HasSubstr("sliding window 8: 216 pages of 4 positions, 256 B each = 54.0 KiB"));
  EXPECT_THAT(text, HasSubstr("context 1000: auto, the smaller of 1000 trained and 1000 that one request can hold"));
}

TEST(MemoryPlan, WhatMaySurpriseIsSaid) {
  MemoryQuestion q = alternating();
  EXPECT_THAT(doubts_of_plan(q, *plan_memory(q)), ::testing::IsEmpty());
  q.context_length = 1200;
  const MemoryPlan longer = *plan_memory(q);
  EXPECT_GE(longer.store_context, 1200);
  EXPECT_THAT(doubts_of_plan(q, longer),
              ::testing::ElementsAre("context 1200 is longer than the 1000 positions the model was trained for"));
  q.context_length = 900;
  q.kv_bytes = 40'000;
  const MemoryPlan small = *plan_memory(q);
  ASSERT_LT(small.store_context, 900);
  EXPECT_THAT(doubts_of_plan(q, small), ::testing::ElementsAre(HasSubstr("holds requests of up to")));
}

TEST(MemoryPlan, ContiguousStorageHoldsOneRequest) {
  MemoryQuestion q = alternating();
  q.storage = KvStorage::kContiguous;
  q.n_parallel = 1;
  const MemoryPlan plan = *plan_memory(q);
  EXPECT_EQ(plan.context_length, 1000);
  EXPECT_EQ(plan.kv_bytes, 64u * (1000 + 12 + 16));  // the window's most rows and a chunk
  q.context_length = 100'000;
  EXPECT_EQ(plan_memory(q).error().code, ErrorCode::kMemoryBudget);
  EXPECT_THAT(plan_memory(q).error().message, HasSubstr("the largest context that fits is 1000 positions"));
  q.context_length = 0;
  q.kv_bytes = 64 * 500;
  EXPECT_EQ(plan_memory(q)->context_length, 472);
}

TEST(MemoryPlan, HugeNumbersSaturate) {
  MemoryQuestion q = question();
  q.budget_bytes = std::numeric_limits<uint64_t>::max();
  q.context_length = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(plan_memory(q).has_value() || plan_memory(q).error().code == ErrorCode::kMemoryBudget);
  q.context_length = int64_t{1} << 40;
  EXPECT_EQ(plan_memory(q).error().message,
            "context of 1099511627776 positions: expected at most 2147483647 pages of 4 positions, found 274877906944");
  q.context_length = 0;
  q.trained_context = std::numeric_limits<int64_t>::max();
  EXPECT_LE(plan_memory(q)->context_length, int64_t{4} * std::numeric_limits<int32_t>::max());
  q.weight_bytes = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(plan_memory(q).error().code, ErrorCode::kMemoryBudget);
  q.n_parallel = 0;
  EXPECT_EQ(plan_memory(q).error().code, ErrorCode::kInvalidArgument);
}

/// Llama-3.1-8B at Q4_K_M in f16 KV, in a container of 8 GiB on a machine that has far more: 32k positions would be
/// killed for memory, so they are refused with every term, and what fits is loaded.
TEST(MemoryPlan, AContainersLimitIsKnownBeforeAnythingIsLoaded) {
  unsetenv("FERROX_DEVICE_BUDGET_BYTES");
  const testing::TempFolder root;
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup/pod");
  std::ofstream(root / "proc/meminfo") << "MemAvailable: 67108864 kB\n";
  std::ofstream(root / "proc/self/cgroup") << "0::/pod\n";
  std::ofstream(root / "sys/fs/cgroup/pod/memory.max") << (uint64_t{8} << 30) << "\n";
  MemoryQuestion q{};
  q.layout = {std::vector<KvLayerShape>(32, {.n_kv_heads = 8, .k_dim = 128, .v_dim = 128}), 32, DType::kF16,
              DType::kF16};
  q.trained_context = 131072;
  q.context_length = 32768;
  q.n_parallel = 1;
  q.weight_bytes = uint64_t{4920} << 20;
  q.scratch_bytes = uint64_t{100} << 20;
  q.budget_bytes = *device_budget_bytes(0, root.path());
  EXPECT_EQ(q.budget_bytes, (uint64_t{8} << 30) - (uint64_t{8} << 30) / 20);  // less 5 %
  const Error error = plan_memory(q).error();
  EXPECT_EQ(error.code, ErrorCode::kMemoryBudget);
  EXPECT_EQ(error.message,
            "model doesn't fit: weights 4.80 GiB + KV 4.00 GiB (32768 positions) + scratch 100 MiB > budget 7.60 GiB; "
            "the largest context that fits is 22016 positions");
  q.context_length = 22016;
  EXPECT_EQ(plan_memory(q)->context_length, 22016);
  q.context_length = 0;
  EXPECT_EQ(plan_memory(q)->context_length, 11040) << "half of what is left, when nobody names a context";
}

TEST(DeviceBudget, TheVariableIsTakenAsGiven) {
  setenv("FERROX_DEVICE_BUDGET_BYTES", "123456", 1);
  EXPECT_EQ(*device_budget_bytes(), 123456u);
  setenv("FERROX_DEVICE_BUDGET_BYTES", "12x", 1);
  EXPECT_THAT(device_budget_bytes().error().message, HasSubstr("expected a number of bytes, found '12x'"));
  unsetenv("FERROX_DEVICE_BUDGET_BYTES");
  EXPECT_GT(*device_budget_bytes(), 0u);
}

}  // namespace
}  // namespace ferrox
