// Does a sequence take what it needs of each kind, no page more, and give every page back once?
#include "kv/sequence_kv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>

#include "kv/paged_store.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;

PageGroups groups_of(std::vector<int32_t> n_pages) { return PageGroups(n_pages); }

TEST(SequenceKv, CountsWhatItHoldsAlready) {
  PageGroups groups = groups_of({4});
  SequenceKv sequence(groups, 4);
  ASSERT_TRUE(sequence.reserve(5));  // two pages
  EXPECT_EQ(groups.n_held(), 2);
  sequence.cover(5);
  sequence.advance(5);
  ASSERT_TRUE(sequence.reserve(3));  // the rest of the second page
  EXPECT_EQ(groups.n_held(), 2);
  ASSERT_TRUE(sequence.reserve(4));
  EXPECT_EQ(groups.n_held(), 3);
  EXPECT_EQ(sequence.capacity(), 12);
  EXPECT_EQ(sequence.length(), 5);
  sequence.check_integrity();
}

TEST(SequenceKv, ReservesAllKindsOrNone) {
  PageGroups groups = groups_of({3, 2});
  SequenceKv sequence(groups, 2);
  ASSERT_TRUE(sequence.reserve(2));
  EXPECT_FALSE(sequence.reserve(5)) << "the second kind has no third page";
  EXPECT_EQ(groups.n_held(), 2);
  EXPECT_FALSE(sequence.reserve(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(groups.n_held(), 2);
}

TEST(SequenceKv, GivesPagesBackOnceHoweverItMoves) {
  PageGroups groups = groups_of({8});
  {
    SequenceKv first(groups, 1);
    ASSERT_TRUE(first.reserve(3));
    SequenceKv second(std::move(first));
    SequenceKv third(groups, 1);
    ASSERT_TRUE(third.reserve(2));
    third = std::move(second);
    EXPECT_EQ(third.capacity(), 3);
    third.release();
    third.release();
  }
  EXPECT_EQ(groups.n_held(), 0);
  groups.check_integrity();
}

TEST(SequenceKvDeath, WritesOnlyWhatIsReserved) {
  PageGroups groups = groups_of({2});
  SequenceKv sequence(groups, 4);
  ASSERT_TRUE(sequence.reserve(4));
  EXPECT_DEATH(sequence.advance(1), "where they are reserved") << "covered first";
  sequence.cover(4);
  sequence.advance(4);
  EXPECT_DEATH(sequence.cover(1), "where they are reserved");
}

/// A page that fell behind is named twice: where it was, and where it is.
TEST(SequenceKv, RecycledPagesBackLaterPositions) {
  PageGroups groups = groups_of({3});
  SequenceKv sequence(groups, 2);
  ASSERT_TRUE(sequence.reserve(6));
  sequence.cover(6);
  sequence.advance(6);
  const std::vector<int32_t> before(sequence.kind(0).pages().begin(), sequence.kind(0).pages().end());
  sequence.recycle(0, 5);  // whole pages only: positions 0 to 3
  EXPECT_EQ(sequence.kind(0).released(), 4);
  const PageTable table = sequence.cover(3)[0];
  EXPECT_THAT(table, ElementsAre(before[0], before[1], before[2], before[1], before[0]));
  sequence.advance(3);
  sequence.check_integrity();
  EXPECT_EQ(groups.n_held(), 3);
  sequence.release();
  EXPECT_EQ(groups.n_held(), 0);
}

TEST(SequenceKv, AnAdoptedPrefixIsSharedAndStaysWhole) {
  PageGroups groups = groups_of({6});
  SequenceKv first(groups, 2);
  ASSERT_TRUE(first.reserve(4));
  first.cover(4);
  first.advance(4);
  const PageTable pages = first.kind(0).pages();
  {
    SequenceKv second(groups, 2);
    second.adopt({&pages, 1}, 4);
    EXPECT_EQ(second.length(), 4);
    EXPECT_EQ(groups.n_held(), 2);
    EXPECT_EQ(groups.pool(0).n_holders(pages[0]), 2);
    ASSERT_TRUE(second.reserve(4));
    second.recycle(0, 4);
    second.cover(4);
    EXPECT_EQ(second.kind(0).pages()[0], pages[0]);
    second.advance(4);
    second.check_integrity();
  }
  EXPECT_EQ(groups.n_held(), 2) << "the first still holds them";
  SequenceKv third(groups, 4);
  EXPECT_DEATH(third.adopt({&pages, 1}, 6), "whole pages");
}

/// Every row of K and V says which sequence and position it is of.
void write_row(PagedStore& store, const SequenceKv& sequence, int64_t position, uint8_t tag) {
  for (size_t i = 0; i < store.layers().size(); ++i) {
    const KvLayerView& layer = store.layers()[i];
    const int32_t page =
        sequence.kind(store.kinds().of_layer[i]).pages()[static_cast<size_t>(position / layer.page_rows)];
    for (int head = 0; head < layer.n_kv_heads; ++head) {
      std::memset(layer.k_row(page, head, static_cast<int>(position % layer.page_rows)), tag,
                  static_cast<size_t>(layer.k_row_bytes));
      std::memset(layer.v_row(page, head, static_cast<int>(position % layer.page_rows)), tag,
                  static_cast<size_t>(layer.v_row_bytes));
    }
  }
}

uint8_t read_row(const PagedStore& store, const SequenceKv& sequence, int64_t position) {
  const KvLayerView& layer = store.layers().back();
  const int32_t page =
      sequence.kind(store.kinds().of_layer.back()).pages()[static_cast<size_t>(position / layer.page_rows)];
  return static_cast<uint8_t>(*layer.v_row(page, layer.n_kv_heads - 1, static_cast<int>(position % layer.page_rows)));
}

TEST(SequenceKv, AForkSharesFullPagesAndCopiesTheTail) {
  const KvLayout layout{{{2, 4, 4, 0}, {1, 4, 4, 8}}, 4, DType::kF16, DType::kF16};
  PagedStore store = *PagedStore::create(layout, {8, 8});
  PageGroups groups(store.n_pages());
  SequenceKv first(groups, 4);
  ASSERT_TRUE(first.reserve(12));
  first.cover(10);
  for (int64_t i = 0; i < 10; ++i) write_row(store, first, i, static_cast<uint8_t>(i + 1));
  first.advance(10);
  std::optional<SequenceKv> second = first.fork(store, std::vector<int64_t>{2, 2});
  ASSERT_TRUE(second);
  EXPECT_EQ(groups.n_held(), 2 * (3 + 2)) << "two pages are shared in each kind";
  second->cover(1);
  write_row(store, *second, 10, 200);
  second->advance(1);
  first.cover(1);
  write_row(store, first, 10, 100);
  first.advance(1);
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(read_row(store, first, i), i + 1);
    EXPECT_EQ(read_row(store, *second, i), i + 1);
  }
  EXPECT_EQ(read_row(store, first, 10), 100);
  EXPECT_EQ(read_row(store, *second, 10), 200);
  EXPECT_FALSE(first.fork(store, std::vector<int64_t>{9, 0}));
  first.check_integrity();
  second->check_integrity();
  first.release();
  EXPECT_EQ(read_row(store, *second, 3), 4) << "shared pages outlive the first";
  second->release();
  EXPECT_EQ(groups.n_held(), 0);
}

}  // namespace
}  // namespace ferrox
