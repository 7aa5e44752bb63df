// How are numbers of bytes shown?
#include "base/units.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ferrox {
namespace {

TEST(Units, BytesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(12 * 1024 + 308), "12.3 KiB");
  EXPECT_EQ(format_bytes(uint64_t{345} << 20), "345 MiB");
  EXPECT_EQ(format_bytes(uint64_t{3} << 30), "3.00 GiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16.0 EiB");
}

/// Rounding may bring one digit more, or the next unit.
TEST(Units, RoundingUpKeepsTheForm) {
  EXPECT_EQ(format_bytes(10 * 1024 - 1), "10.0 KiB");
  EXPECT_EQ(format_bytes(100 * 1024 - 1), "100 KiB");
  EXPECT_EQ(format_bytes(1024 * 1024 - 1), "1.00 MiB");
}

}  // namespace
}  // namespace ferrox
