// Is hostile JSON refused in time, and does output never throw?
#include "server/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferrox {
namespace {

using ::testing::HasSubstr;

std::string repeat(std::string_view piece, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += piece;
  return out;
}

TEST(JsonText, KeepsTheOrderOfMembers) {
  EXPECT_EQ(dump_json(*parse_json(R"({"b":1,"a":[true,null,2.5],"c":{}})")), R"({"b":1,"a":[true,null,2.5],"c":{}})");
}

TEST(JsonText, MalformedTextIsAnErrorWithItsPlace) {
  for (const char* bad :
       {"", "{", "{\"a\":}", "nul", "[1,]", "\"\x80\"", "{\"a\":1}x", "\"\\ud800\"", "1e999", "\x00"}) {
    const auto parsed = parse_json(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_THAT(parsed.error().message, ::testing::StartsWith("json: ")) << bad;
    EXPECT_THAT(parsed.error().message, ::testing::Not(HasSubstr("exception"))) << bad;
  }
}

TEST(JsonText, AKeyStandsOnceInAnObject) {
  for (const char* text : {R"({"a":1,"a":2})", R"({"a":{"b":1,"b":1}})", R"([{"x":1},{"a":1,"c":[{"a":2}],"a":3}])",
                           R"({"a":1,"\u0061":2})"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
  for (const char* text :
       {R"({"a":{"a":1},"b":{"a":1}})", R"([{"a":1},{"a":1}])", R"({"a":[{"b":1},{"b":1}],"b":2})"}) {
    EXPECT_TRUE(parse_json(text)) << text;
  }
}

TEST(JsonText, DepthIsBounded) {
  EXPECT_TRUE(parse_json(repeat("[", kMaxJsonDepth) + repeat("]", kMaxJsonDepth)));
  EXPECT_THAT(parse_json(repeat("[", kMaxJsonDepth + 1) + repeat("]", kMaxJsonDepth + 1)).error().message,
              HasSubstr("deeper"));
  EXPECT_FALSE(parse_json(repeat("{\"a\":", 1'000'000)));
  EXPECT_TRUE(parse_json("\"" + repeat("[{\\\"", 1000) + "\""));
}

TEST(JsonText, ManyValuesAndManyKeysAreBounded) {
  EXPECT_FALSE(parse_json("[" + repeat("0,", kMaxJsonValues) + "0]"));
  std::string object = "{";
  for (int i = 0; i < 7000; ++i) object += fmt::format("\"{}\":0,", i);
  EXPECT_THAT(parse_json(object + "\"x\":0}").error().message, HasSubstr("objects"));
}

TEST(JsonText, InvalidUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(dump_json(Json("a\x80z")), "\"a\xEF\xBF\xBDz\"");
  EXPECT_NO_THROW(dump_json(Json("\xF0\x9F")));
}

}  // namespace
}  // namespace ferrox
