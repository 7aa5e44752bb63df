// Does the pool hand out every page once and take it back once?
#include "kv/page_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "base/machine.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;

TEST(PagePool, GivesAllOrNothing) {
  PagePool pool(5);
  std::vector<int32_t> table = {77};
  EXPECT_FALSE(pool.try_acquire(6, table));
  EXPECT_THAT(table, ElementsAre(77));
  EXPECT_EQ(pool.n_free(), 5);
  EXPECT_TRUE(pool.try_acquire(5, table));
  EXPECT_THAT(table, ElementsAre(77, 0, 1, 2, 3, 4));
  EXPECT_EQ(pool.n_held(), 5);
  EXPECT_TRUE(pool.try_acquire(0, table));
  EXPECT_FALSE(pool.try_acquire(1, table));
}

TEST(PagePool, ReusesTouchedPagesFirst) {
  PagePool pool(8);
  std::vector<int32_t> first;
  ASSERT_TRUE(pool.try_acquire(3, first));
  pool.release(first);
  std::vector<int32_t> second;
  ASSERT_TRUE(pool.try_acquire(3, second));
  EXPECT_EQ(second, first);
}

/// The books of a store that nobody can touch in full must not take memory for every page of it.
TEST(PagePool, BooksGrowWithWhatIsUsed) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  PagePool pool(kMost);
  std::vector<int32_t> table;
  ASSERT_TRUE(pool.try_acquire(3, table));
  EXPECT_EQ(pool.n_free(), kMost - 3);
  EXPECT_EQ(pool.n_holders(kMost - 1), 0);
  EXPECT_LT(anonymous_memory_bytes().value_or(0), uint64_t{1} << 32);
  pool.release(table);
  pool.check_integrity();
}

TEST(PagePoolDeath, RefusesWhatIsNotHeld) {
  PagePool pool(4);
  std::vector<int32_t> pages;
  ASSERT_TRUE(pool.try_acquire(2, pages));
  pool.release(pages);
  const std::vector<int32_t> beyond = {4};
  const std::vector<int32_t> before = {-1};
  EXPECT_DEATH(pool.release(pages), "gives a page back once");
  EXPECT_DEATH(pool.retain(pages), "has a holder");
  EXPECT_DEATH(pool.release(beyond), "belongs to this pool");
  EXPECT_DEATH(pool.release(before), "belongs to this pool");
  EXPECT_DEATH(pool.n_holders(4), "belongs to this pool");
}

TEST(PagePool, APageIsFreeWhenItsLastHolderIsGone) {
  PagePool pool(4);
  std::vector<int32_t> pages;
  ASSERT_TRUE(pool.try_acquire(2, pages));
  pool.retain(pages);
  pool.retain({pages.data(), 1});
  EXPECT_EQ(pool.n_holders(pages[0]), 3);
  pool.release(pages);
  EXPECT_EQ(pool.n_held(), 2);
  pool.release(pages);
  EXPECT_EQ(pool.n_held(), 1);
  pool.release({pages.data(), 1});
  EXPECT_EQ(pool.n_held(), 0);
  std::vector<int32_t> again;
  ASSERT_TRUE(pool.try_acquire(4, again));
  for (const int32_t page : again) EXPECT_EQ(pool.n_holders(page), 1) << "numbers come back with a fresh count";
}

TEST(PagePool, NeverHoldsAPageTwiceUnderRandomSchedules) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    PagePool pool(static_cast<int32_t>(random() % 40));
    std::vector<std::vector<int32_t>> holders;
    for (int step = 0; step < 200; ++step) {
      if (random() % 2 == 0 && !holders.empty()) {
        pool.release(holders.back());
        holders.pop_back();
      } else {
        std::vector<int32_t> pages;
        const int32_t n = static_cast<int32_t>(random() % 12);
        const bool fits = n <= pool.n_free();
        ASSERT_EQ(pool.try_acquire(n, pages), fits);
        if (fits) holders.insert(holders.begin() + static_cast<ptrdiff_t>(random() % (holders.size() + 1)), pages);
      }
      pool.check_integrity();
      std::set<int32_t> held;
      size_t n_held = 0;
      for (const auto& pages : holders) held.insert(pages.begin(), pages.end()), n_held += pages.size();
      ASSERT_EQ(held.size(), n_held) << "a page has two holders";
      ASSERT_EQ(static_cast<size_t>(pool.n_held()), n_held);
    }
    for (const auto& pages : holders) pool.release(pages);
    EXPECT_EQ(pool.n_free(), pool.n_pages());
  }
}

}  // namespace
}  // namespace ferrox
