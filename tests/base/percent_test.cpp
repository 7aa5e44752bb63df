// Are escapes decoded, and is what isn't one left alone?
#include "base/percent.h"

#include <gtest/gtest.h>

namespace ferrox {
namespace {

TEST(Percent, EscapesAreDecodedAndOthersStay) {
  EXPECT_EQ(percent_decode("a%2Fb%20c"), "a/b c");
  EXPECT_EQ(percent_decode("%zz%4%4g%"), "%zz%4%4g%");
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
  EXPECT_EQ(percent_decode(""), "");
}

}  // namespace
}  // namespace ferrox
