// Does an error travel up unchanged, and does a value come through whole?
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace ferrox {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return make_error(ErrorCode::kInvalidArgument, "number: expected an even one, found {}", number);
  return number / 2;
}

Result<int> quarter_of(int number) {
  TRY_ASSIGN(const int half, half_of(number));
  TRY_ASSIGN(const int quarter, half_of(half));
  return quarter;
}

Result<void> check_even(int number) {
  TRY(half_of(number));
  return {};
}

Result<std::unique_ptr<int>> boxed(int number) {
  TRY_ASSIGN(auto value, half_of(number));
  return std::make_unique<int>(value);
}

TEST(Result, ValuesComeThrough) {
  EXPECT_EQ(*quarter_of(12), 3);
  EXPECT_TRUE(check_even(2));
  const auto box = boxed(10);
  ASSERT_TRUE(box);
  EXPECT_EQ(**box, 5);
}

TEST(Result, TheFirstErrorIsReturned) {
  const auto odd = quarter_of(7);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(odd.error().message, "number: expected an even one, found 7");
  EXPECT_EQ(quarter_of(6).error().message, "number: expected an even one, found 3");
  EXPECT_EQ(check_even(5).error().message, "number: expected an even one, found 5");
  EXPECT_FALSE(boxed(1));
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorNamesIt) {
  EXPECT_DEATH((void)half_of(3).value(), "result has a value: number: expected an even one, found 3");
}

TEST(ResultDeathTest, ABrokenPromiseNamesItself) {
  const int pages = -1;
  EXPECT_DEATH(CHECK(pages >= 0, "pages are counted"), "result_test.cpp:.*pages >= 0: pages are counted");
}

}  // namespace
}  // namespace ferrox
