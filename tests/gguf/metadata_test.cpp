// Do the typed getters of metadata convert what fits, and name what doesn't?
#include "gguf/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Metadata sample() {
  Metadata out;
  out.add("uint", uint64_t{7});
  out.add("int", int64_t{5});
  out.add("negative", int64_t{-5});
  out.add("float", 1.5);
  out.add("bool", true);
  out.add("string", std::string("text"));
  out.add("uints", MetaArray(std::vector<uint64_t>{1, 2}));
  out.add("ints", MetaArray(std::vector<int64_t>{-1, 2}));
  out.add("floats", MetaArray(std::vector<double>{0.5, 2}));
  out.add("bools", MetaArray(std::vector<bool>{true, false}));
  out.add("strings", MetaArray(std::vector<std::string_view>{"a", "b"}));
  out.add("empty", MetaArray(std::vector<int64_t>{}));
  out.add("huge", MetaArray(std::vector<uint64_t>{std::numeric_limits<uint64_t>::max()}));
  return out;
}

template <class T>
void expect_refused(const Result<T>& result, ErrorCode code, const char* message) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code);
  EXPECT_THAT(result.error().message, HasSubstr(message));
}

TEST(Metadata, ScalarsConvertWhereTheyFit) {
  const auto metadata = sample();
  EXPECT_EQ(*metadata.get_uint("uint"), 7u);
  EXPECT_EQ(*metadata.get_uint("int"), 5u);
  EXPECT_EQ(*metadata.get_float("float"), 1.5);
  EXPECT_EQ(*metadata.get_float("negative"), -5.0);
  EXPECT_EQ(*metadata.get_bool("bool"), true);
  EXPECT_EQ(*metadata.get_string("string"), "text");
}

TEST(Metadata, OtherKindsAreRefusedByName) {
  const auto metadata = sample();
  expect_refused(metadata.get_uint("negative"), ErrorCode::kCorrupt, "'negative': expected an unsigned integer");
  expect_refused(metadata.get_uint("bool"), ErrorCode::kCorrupt, "found a boolean");
  expect_refused(metadata.get_uint("float"), ErrorCode::kCorrupt, "found a float");
  expect_refused(metadata.get_uint("uints"), ErrorCode::kCorrupt, "found an array of unsigned integers");
  expect_refused(metadata.get_float("string"), ErrorCode::kCorrupt, "found a string");
  expect_refused(metadata.get_bool("uint"), ErrorCode::kCorrupt, "expected a boolean, found an unsigned integer");
  expect_refused(metadata.get_string("uint"), ErrorCode::kCorrupt, "expected a string");
  expect_refused(metadata.get_uints("uint"), ErrorCode::kCorrupt, "expected an array");
  expect_refused(metadata.get_uints("ints"), ErrorCode::kCorrupt, "found an array of signed integers");
  expect_refused(metadata.get_ints("huge"), ErrorCode::kCorrupt, "expected an array of integers");
  expect_refused(metadata.get_floats("bools"), ErrorCode::kCorrupt, "found an array of booleans");
  expect_refused(metadata.get_strings("string"), ErrorCode::kCorrupt, "expected an array of strings");
}

TEST(Metadata, AbsentKeysAreNotFoundOrFallBack) {
  const auto metadata = sample();
  expect_refused(metadata.get_uint("absent"), ErrorCode::kNotFound, "'absent' is missing");
  expect_refused(metadata.get_strings("absent"), ErrorCode::kNotFound, "'absent' is missing");
  EXPECT_EQ(*metadata.get_uint_or("absent", 3), 3u);
  EXPECT_EQ(*metadata.get_float_or("absent", 0.5), 0.5);
  EXPECT_EQ(*metadata.get_bool_or("absent", true), true);
  EXPECT_EQ(*metadata.get_string_or("absent", "x"), "x");
  expect_refused(metadata.get_uint_or("string", 3), ErrorCode::kCorrupt, "expected an unsigned integer");
}

TEST(Metadata, ArraysConvertWhereEveryElementFits) {
  const auto metadata = sample();
  EXPECT_THAT(*metadata.get_uints("uints"), ElementsAre(1, 2));
  EXPECT_THAT(*metadata.get_ints("uints"), ElementsAre(1, 2));
  EXPECT_THAT(*metadata.get_ints("ints"), ElementsAre(-1, 2));
  EXPECT_THAT(*metadata.get_floats("ints"), ElementsAre(-1.0f, 2.0f));
  EXPECT_THAT(*metadata.get_floats("floats"), ElementsAre(0.5f, 2.0f));
  EXPECT_THAT(*metadata.get_bools("bools"), ElementsAre(true, false));
  EXPECT_THAT(*metadata.get_strings("strings"), ElementsAre("a", "b"));
  EXPECT_THAT(*metadata.get_strings("empty"), IsEmpty());
  EXPECT_THAT(*metadata.get_bools("empty"), IsEmpty());
}

TEST(Metadata, KeepsFileOrderAndRefusesASecondKey) {
  auto metadata = sample();
  EXPECT_FALSE(metadata.add("uint", uint64_t{8}));
  EXPECT_EQ(*metadata.get_uint("uint"), 7u);
  EXPECT_EQ(metadata.entries().front().key, "uint");
  EXPECT_EQ(metadata.entries().back().key, "huge");
  EXPECT_TRUE(metadata.contains("bool"));
  EXPECT_FALSE(metadata.contains("boo"));
}

}  // namespace
}  // namespace ferrox
