// Does a sequence take what it needs, no page more, and give it back once?
#include "kv/sequence_kv.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace ferrox {
namespace {

TEST(SequenceKv, CountsWhatItHoldsAlready) {
  PagePool pool(4);
  SequenceKv sequence(pool, 4);
  ASSERT_TRUE(sequence.reserve(5));  // two pages
  EXPECT_EQ(pool.n_held(), 2);
  sequence.advance(5);
  ASSERT_TRUE(sequence.reserve(3));  // the rest of the second page
  EXPECT_EQ(pool.n_held(), 2);
  ASSERT_TRUE(sequence.reserve(4));
  EXPECT_EQ(pool.n_held(), 3);
  EXPECT_EQ(sequence.capacity(), 12);
  EXPECT_EQ(sequence.length(), 5);
}

TEST(SequenceKv, ReservesAllOrNothing) {
  PagePool pool(3);
  SequenceKv sequence(pool, 2);
  ASSERT_TRUE(sequence.reserve(2));
  EXPECT_FALSE(sequence.reserve(7));
  EXPECT_EQ(pool.n_held(), 1);
  sequence.advance(2);
  EXPECT_FALSE(sequence.reserve(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(pool.n_held(), 1);
}

TEST(SequenceKv, GivesPagesBackOnceHoweverItMoves) {
  PagePool pool(8);
  {
    SequenceKv first(pool, 1);
    ASSERT_TRUE(first.reserve(3));
    SequenceKv second(std::move(first));
    SequenceKv third(pool, 1);
    ASSERT_TRUE(third.reserve(2));
    third = std::move(second);
    EXPECT_EQ(third.capacity(), 3);
    third.release();
    third.release();
  }
  EXPECT_EQ(pool.n_free(), 8);
  pool.check_integrity();
}

TEST(SequenceKvDeath, WritesOnlyWhatIsReserved) {
  PagePool pool(2);
  SequenceKv sequence(pool, 4);
  ASSERT_TRUE(sequence.reserve(4));
  sequence.advance(4);
  EXPECT_DEATH(sequence.advance(1), "where they are reserved");
}

}  // namespace
}  // namespace ferrox
