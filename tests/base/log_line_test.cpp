// Is every log line one line, whatever it is made of, and is a JSON line valid JSON?
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <regex>
#include <sstream>

#include "support/temp_folder.h"

namespace ferrox {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// What stderr gets of one line.
std::string logged(LogFormat format, std::string_view message, const LogFields& fields) {
  log().set_level(spdlog::level::info);
  set_log_format(format);
  ::testing::internal::CaptureStderr();
  log_fields(spdlog::level::info, message, fields);
  log().flush();
  std::string text = ::testing::internal::GetCapturedStderr();
  set_log_format(LogFormat::kText);
  return text;
}

const std::string& hostile() {
  static const std::string text =
      std::string("a\nb\r\x1b[31m\t\"\\ {} \x7f \xc2\x85 \xff\xfe \xe2\x80\xa8") + std::string(1, '\0') + "z";
  return text;
}

TEST(LogLine, JsonHasTimeLevelMessageAndTypedValues) {
  const std::string line = logged(LogFormat::kJson, "answered",
                                  {{"request_id", "ab12"}, {"status", int64_t{200}}, {"total_ms", 1.5}, {"ok", true}});
  const auto json = nlohmann::ordered_json::parse(line);
  EXPECT_TRUE(
      std::regex_match(json["time"].get<std::string>(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  EXPECT_EQ(json["level"], "info");
  EXPECT_EQ(json["message"], "answered");
  EXPECT_EQ(json["request_id"], "ab12");
  EXPECT_EQ(json["status"], 200);
  EXPECT_TRUE(json["status"].is_number_integer());
  EXPECT_EQ(json["total_ms"], 1.5);
  EXPECT_EQ(json["ok"], true);
}

TEST(LogLine, HostileTextStaysOneLineOfJson) {
  const std::string line = logged(LogFormat::kJson, hostile(), {{"value", hostile()}});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_THAT(line, EndsWith("}\n"));
  EXPECT_TRUE(std::ranges::all_of(line.substr(0, line.size() - 1), [](char c) { return c >= 0x20 && c < 0x7F; }));
  const auto json = nlohmann::json::parse(line);
  EXPECT_THAT(json["value"].get<std::string>(), HasSubstr("a\nb\r\x1b[31m"));
  EXPECT_THAT(json["value"].get<std::string>(), HasSubstr("\xef\xbf\xbd")) << "what is no UTF-8 is replaced";
}

TEST(LogLine, HostileTextStaysOneLineOfText) {
  const std::string line =
      logged(LogFormat::kText, hostile(), {{"value", hostile()}, {"word", "a-b"}, {"n", int64_t{3}}});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_THAT(line, EndsWith("word=a-b n=3\n"));
}

TEST(LogLine, ALongValueIsOneLine) {
  const std::string line = logged(LogFormat::kJson, "prompt", {{"prompt", std::string(1 << 20, 'x')}});
  EXPECT_EQ(nlohmann::json::parse(line)["prompt"].get<std::string>().size(), size_t{1} << 20);
}

TEST(LogLine, ValuesAreOfTheirOwnLineAlone) {
  EXPECT_THAT(logged(LogFormat::kText, "one", {{"a", "b"}}), EndsWith("one a=b\n"));
  ::testing::internal::CaptureStderr();
  log().info("two");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), EndsWith("two\n"));
}

TEST(LogFile, GetsEveryLineAndKeepsOldOnes) {
  const testing::TempFolder folder;
  const std::string path = (folder.path() / "log").string();
  std::ofstream(path) << "old\n";
  ASSERT_TRUE(add_log_file(path));
  log().info("new");
  log().sinks().pop_back();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), ::testing::StartsWith("old\n"));
  EXPECT_THAT(text.str(), EndsWith("info new\n"));
}

TEST(LogFile, ThatCantBeOpenedIsAnError) {
  const testing::TempFolder folder;
  std::ofstream((folder.path() / "file").string()) << "x";
  const auto opened = add_log_file((folder.path() / "file" / "log").string());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kIo);
  EXPECT_THAT(opened.error().message, HasSubstr("file/log"));
}

}  // namespace
}  // namespace ferrox
