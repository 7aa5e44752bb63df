// Who gives up its place, and who never does?
#include "sched/parking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Parking, TheNewestOfWhoRunsMostMakesRoomForWhoRunsNothing) {
  const std::vector<RunningPlace> running = {{"a"}, {"b"}, {"a"}, {"a"}, {"b"}};
  EXPECT_THAT(parking_order(running, "c", 0), ElementsAre(3, 4, 2)) << "down to one of each";
}

TEST(Parking, NobodyMakesRoomForWhoRunsSomething) {
  const std::vector<RunningPlace> running = {{"a"}, {"a"}, {"a"}, {"b"}};
  EXPECT_THAT(parking_order(running, "a", 0), IsEmpty());
  EXPECT_THAT(parking_order(running, "b", 0), IsEmpty());
}

TEST(Parking, AnOnlyRequestStays) {
  const std::vector<RunningPlace> running = {{"a"}, {"b"}};
  EXPECT_THAT(parking_order(running, "c", 0), IsEmpty());
}

TEST(Parking, WhoMayNotBeParkedStays) {
  const std::vector<RunningPlace> running = {{"a"}, {"a"}, {.caller = "a", .may_park = false}};
  EXPECT_THAT(parking_order(running, "c", 0), ElementsAre(1, 0));
}

TEST(Parking, LessUrgentOnesMakeRoomWhoeverTheyBelongTo) {
  const std::vector<RunningPlace> running = {
      {"a", 0}, {"a", 7}, {"b", 3}, {"b", 7}, {.caller = "c", .priority = 9, .may_park = false}};
  EXPECT_THAT(parking_order(running, "a", 1), ElementsAre(1, 3, 2)) << "the least urgent first, its own before";
  EXPECT_THAT(parking_order(running, "a", 9), IsEmpty());
}

TEST(Parking, MoreUrgentOnesAreNeverParkedForAShare) {
  const std::vector<RunningPlace> running = {{"a", -1}, {"a", -1}, {"a", 0}, {"a", -1}};
  EXPECT_THAT(parking_order(running, "b", 0), ElementsAre(2));
}

}  // namespace
}  // namespace ferrox
