// Does the cursor give every byte once, and none beyond the last?
#include "gguf/byte_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ferrox {
namespace {

using ::testing::HasSubstr;

const std::byte kBytes[] = {std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{7}};

TEST(ByteCursor, ReadsToTheLastByteAndNoFurther) {
  ByteCursor cursor(kBytes);
  EXPECT_EQ(*cursor.read<uint32_t>("a number"), 1u);
  EXPECT_EQ(cursor.left(), 1u);
  const auto beyond = cursor.take(2, "two bytes");
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message, "at byte 4: two bytes needs 2 bytes, 1 are left");
  EXPECT_EQ(cursor.offset(), 4u) << "a refusal doesn't move the cursor";
  EXPECT_EQ(*cursor.read<uint8_t>("a byte"), 7);
  EXPECT_FALSE(cursor.take(1, "a byte"));
  EXPECT_TRUE(cursor.take(0, "nothing"));
  EXPECT_FALSE(cursor.take(std::numeric_limits<uint64_t>::max(), "everything"));
}

TEST(ByteCursor, RoomIsCountedInWholeThings) {
  const ByteCursor cursor(kBytes);
  EXPECT_TRUE(cursor.expect_room(2, 2, "pairs"));
  EXPECT_TRUE(cursor.expect_room(5, 1, "bytes"));
  EXPECT_FALSE(cursor.expect_room(3, 2, "pairs"));
  const auto refused = cursor.expect_room(uint64_t{1} << 63, 2, "pairs");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("9223372036854775808 pairs need at least 2 bytes each, 5 bytes are left"));
}

}  // namespace
}  // namespace ferrox
