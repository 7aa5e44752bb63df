// Is the queue bounded, in order, and free of those that waited too long?
#include "sched/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferrox {
namespace {

using ::testing::ElementsAre;

TimePoint at(int seconds) { return TimePoint() + std::chrono::seconds(seconds); }

TEST(RequestQueue, RefusesBeyondItsCapWithTheNumbers) {
  RequestQueue queue(2);
  EXPECT_TRUE(queue.push({1, {10}, TimePoint::max()}, 0));
  EXPECT_TRUE(queue.push({2, {10}, TimePoint::max()}, 0));
  const Error error = queue.push({3, {10}, TimePoint::max()}, 0).error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(error.message, "queue is full: 2 requests wait, at most 2 may");
  EXPECT_EQ(queue.size(), 2);
  EXPECT_TRUE(queue.push({3, {10}, TimePoint::max()}, 1)) << "an open slot takes one more";
}

TEST(RequestQueue, FirstInFirstOut) {
  RequestQueue queue(8);
  EXPECT_TRUE(queue.ids().empty());
  for (uint64_t id = 1; id <= 3; ++id) ASSERT_TRUE(queue.push({id, {1}, TimePoint::max()}, 0));
  EXPECT_EQ(queue.ids().front(), 1u);
  EXPECT_TRUE(queue.remove(1));
  EXPECT_FALSE(queue.remove(1));
  EXPECT_TRUE(queue.remove(3));
  EXPECT_EQ(queue.ids().front(), 2u);
}

TEST(RequestQueue, ChoicesThatAreAdmittedTogetherCountOneByOne) {
  RequestQueue queue(4);
  EXPECT_TRUE(queue.push({1, {10}, TimePoint::max(), 3}, 0));
  EXPECT_EQ(queue.size(), 3);
  EXPECT_EQ(queue.push({4, {10}, TimePoint::max(), 2}, 0).error().message,
            "queue is full: 3 requests wait, at most 4 may");
  EXPECT_TRUE(queue.push({4, {10}, TimePoint::max(), 2}, 1));
  EXPECT_TRUE(queue.remove(1));
  EXPECT_EQ(queue.size(), 2);
}

TEST(RequestQueue, DeadlinesPass) {
  RequestQueue queue(8);
  ASSERT_TRUE(queue.push({1, {1}, at(5)}, 0));
  ASSERT_TRUE(queue.push({2, {1}, TimePoint::max()}, 0));
  ASSERT_TRUE(queue.push({3, {1}, at(4)}, 0));
  EXPECT_THAT(queue.take_expired(at(3)), ElementsAre());
  EXPECT_THAT(queue.take_expired(at(5)), ElementsAre(1, 3));
  EXPECT_EQ(queue.ids().front(), 2u);
  EXPECT_THAT(queue.take_expired(at(1000)), ElementsAre());
}

}  // namespace
}  // namespace ferrox
