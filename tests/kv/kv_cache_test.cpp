// Does a contiguous cache keep the rows that are read, and only as much memory as they need?
#include "kv/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kv/kv_layout.h"

namespace ferrox {
namespace {

constexpr KvLayerShape kSplit = {.n_kv_heads = 2, .k_dim = 3, .v_dim = 2};

/// A cache whose row of position p holds p + 1 in every byte of K, and its complement in V.
bool push_next(KvCache& cache) {
  const auto tag = static_cast<std::byte>(cache.positions() % 251 + 1);
  const std::vector<std::byte> k(cache.k_width(), tag);
  const std::vector<std::byte> v(cache.v_width(), ~tag);
  return cache.push(k, v);
}

void expect_rows_are_the_last(const KvCache& cache) {
  for (int64_t i = 0; i < cache.rows(); ++i) {
    const auto tag = static_cast<std::byte>((cache.first_resident() + i) % 251 + 1);
    for (const std::byte byte : cache.k_row(i)) ASSERT_EQ(byte, tag) << "row " << i;
    for (const std::byte byte : cache.v_row(i)) ASSERT_EQ(byte, ~tag) << "row " << i;
  }
}

TEST(KvWindow, RowsSwingByTheSlack) {
  const KvWindow window = KvWindow::with_default_slack(8);
  EXPECT_EQ(window.slack, 4);
  EXPECT_EQ(window.max_rows(), 12);
  EXPECT_EQ(KvWindow::with_default_slack(1).slack, 1);
  for (const auto& [positions, rows] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {7, 7}, {8, 8}, {9, 9}, {12, 12}, {13, 8}, {17, 12}, {18, 8}}) {
    EXPECT_EQ(window.rows_after(positions), rows) << positions;
  }
  EXPECT_EQ(KvWindow::with_default_slack(1024).rows_after(32768), 1475);
}

TEST(KvCache, WidthsOfKAndVDiffer) {
  KvCache cache(kSplit, DType::kF16, DType::kF32);
  EXPECT_EQ(cache.k_width(), 12u);
  EXPECT_EQ(cache.v_width(), 16u);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(push_next(cache));
  EXPECT_EQ(cache.rows(), 5);
  EXPECT_EQ(cache.positions(), 5);
  expect_rows_are_the_last(cache);
}

TEST(KvCacheDeath, APushOfAnotherWidthIsABug) {
  KvCache cache(kSplit, DType::kF16, DType::kF16);
  const std::vector<std::byte> row(12);
  EXPECT_DEATH(cache.push(row, row), "width");
}

TEST(KvCache, APlanIsNotReallocated) {
  KvCache cache(kSplit, DType::kF16, DType::kF16);
  cache.plan_capacity(100);
  ASSERT_TRUE(push_next(cache));
  const std::byte* where = cache.k_row(0).data();
  while (cache.positions() < 100) ASSERT_TRUE(push_next(cache));
  EXPECT_EQ(cache.k_row(0).data(), where);
}

TEST(KvCache, RowsFollowTheWindowHoweverTheyArrive) {
  for (const int64_t chunk : {1, 2, 5, 13, 40}) {
    KvCache cache(kSplit, DType::kF16, DType::kF16);
    cache.arm_window(KvWindow::with_default_slack(8));
    while (cache.positions() < 200) {
      for (int64_t i = 0; i < chunk; ++i) ASSERT_TRUE(push_next(cache));
      expect_rows_are_the_last(cache);  // nothing is dropped inside push
      cache.evict_behind_window();
      ASSERT_EQ(cache.rows(), cache.window()->rows_after(cache.positions())) << "chunk " << chunk;
      expect_rows_are_the_last(cache);
    }
  }
}

TEST(KvCache, APromptsMemoryIsGivenBack) {
  KvCache cache(kSplit, DType::kF16, DType::kF16);
  cache.arm_window(KvWindow::with_default_slack(8));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(push_next(cache));
  EXPECT_GE(cache.capacity_rows(), 1000);
  cache.evict_behind_window();
  EXPECT_LE(cache.capacity_rows(), 2 * 12);
}

TEST(KvCache, TruncatesToWhereItsRowsAre) {
  KvCache cache(kSplit, DType::kF16, DType::kF16);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(push_next(cache));
  EXPECT_TRUE(cache.can_truncate_to(3));
  cache.truncate(15);
  EXPECT_EQ(cache.rows(), 15);
  EXPECT_FALSE(cache.can_truncate_to(16));
  EXPECT_FALSE(cache.can_truncate_to(-1));

  cache.arm_window({8, 4});
  cache.evict_behind_window();  // rows_after(15) = 10: positions 5 to 14
  ASSERT_EQ(cache.first_resident(), 5);
  EXPECT_TRUE(cache.can_truncate_to(12));   // reads from 12 + 1 - 8 = 5
  EXPECT_FALSE(cache.can_truncate_to(11));  // would read from 4
  EXPECT_TRUE(cache.can_truncate_to(0));
  cache.truncate(12);
  EXPECT_EQ(cache.rows(), 7);
  EXPECT_EQ(cache.first_resident(), 5);
  expect_rows_are_the_last(cache);
  cache.truncate(0);
  EXPECT_EQ(cache.rows(), 0);
  EXPECT_EQ(cache.positions(), 0);
}

TEST(KvCacheDeath, RefusesToForgetWhatItCantReadAgain) {
  KvCache cache(kSplit, DType::kF16, DType::kF16);
  cache.arm_window({8, 4});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(push_next(cache));
  cache.evict_behind_window();
  EXPECT_DEATH(cache.truncate(10), "resident");
}

TEST(KvCacheDeath, ARecurrentStateGoesBackToNothingOrNowhere) {
  KvCache cache(kSplit, DType::kF16, DType::kF16);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(push_next(cache));
  cache.set_state({1.0f, 2.0f});
  EXPECT_TRUE(cache.can_truncate_to(4));
  EXPECT_FALSE(cache.can_truncate_to(3));
  EXPECT_DEATH(cache.truncate(3), "goes back");
  cache.truncate(4);
  EXPECT_EQ(cache.state().size(), 2u);
  cache.truncate(0);
  EXPECT_TRUE(cache.state().empty());
}

TEST(KvCache, APushWithoutAPageChangesNothing) {
  KvPagePool pool(2, 4);
  auto cache = KvCache::pooled(kSplit, DType::kF16, DType::kF16, pool);
  ASSERT_TRUE(cache);
  EXPECT_EQ(pool.n_held(), 1);  // a cache always takes one
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(push_next(*cache));
  EXPECT_EQ(pool.n_held(), 2);
  EXPECT_FALSE(push_next(*cache));
  EXPECT_EQ(cache->positions(), 8);
  EXPECT_EQ(cache->rows(), 8);
  EXPECT_FALSE(KvCache::pooled(kSplit, DType::kF16, DType::kF16, pool));
  ASSERT_TRUE(pool.resize(3));
  EXPECT_TRUE(push_next(*cache));
  expect_rows_are_the_last(*cache);
}

TEST(KvCache, APooledOneNeverShrinks) {
  KvPagePool pool(100, 4);
  {
    auto cache = KvCache::pooled(kSplit, DType::kF16, DType::kF16, pool);
    cache->arm_window({8, 4});
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(push_next(*cache));
    cache->evict_behind_window();
    EXPECT_EQ(pool.n_held(), 25);
    for (int i = 0; i < 80; ++i) {
      ASSERT_TRUE(push_next(*cache));
      cache->evict_behind_window();
      ASSERT_EQ(pool.n_held(), 25);
    }
  }
  EXPECT_EQ(pool.n_held(), 0);
}

TEST(KvCache, PagesGoBackOnceHoweverItMoves) {
  KvPagePool pool(10, 4);
  {
    KvCache first = *KvCache::pooled(kSplit, DType::kF16, DType::kF16, pool);
    first.arm_window({8, 4});
    for (int i = 0; i < 9; ++i) ASSERT_TRUE(push_next(first));
    const KvCache copy(first);
    EXPECT_EQ(copy.n_pages_held(), 0);
    EXPECT_EQ(copy.rows(), 9);
    EXPECT_EQ(copy.window()->window, 8);
    expect_rows_are_the_last(copy);
    KvCache moved(std::move(first));
    KvCache other = *KvCache::pooled(kSplit, DType::kF16, DType::kF16, pool);
    other = std::move(moved);
    EXPECT_EQ(other.n_pages_held(), 3);
    EXPECT_EQ(pool.n_held(), 4);
  }
  EXPECT_EQ(pool.n_held(), 0);
}

TEST(KvPagePool, TakesAllOrNothingAndResizesAboveWhatIsHeld) {
  KvPagePool pool(5, 4);
  EXPECT_FALSE(pool.try_acquire(6));
  EXPECT_TRUE(pool.try_acquire(4));
  const auto refused = pool.resize(3);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the 4 pages that are held"), std::string::npos);
  EXPECT_EQ(pool.n_pages(), 5);
  ASSERT_TRUE(pool.resize(9));
  EXPECT_EQ(pool.n_free(), 5);
  pool.release(4);
  EXPECT_EQ(pool.n_free(), 9);
  EXPECT_DEATH(pool.release(1), "once");
}

TEST(KvCache, AttentionSeesEachRowAsAPage) {
  KvCache cache(kSplit, DType::kF16, DType::kF32);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(push_next(cache));
  const KvLayerView view = cache.view();
  for (int32_t row = 0; row < 6; ++row) {
    for (int head = 0; head < 2; ++head) {
      EXPECT_EQ(view.k_row(row, head, 0), cache.k_row(row).data() + head * 6);
      EXPECT_EQ(view.v_row(row, head, 0), cache.v_row(row).data() + head * 8);
    }
  }
}

}  // namespace
}  // namespace ferrox
