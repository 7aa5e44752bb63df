// Does the template command render what it is given, raw, and fail with the place of the fault?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "command_run.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::run_ferrox;

class TemplateCommand : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  testing::CommandResult render(const std::string& source, const std::string& json,
                                const std::vector<std::string>& more = {}) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "t.jinja") << source;
    std::ofstream(folder_ / "m.json") << json;
    std::vector<std::string> arguments = {"template", "--file", folder_ / "t.jinja", "--messages", folder_ / "m.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_ferrox(arguments);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("ferrox_template_" + std::to_string(getpid()));
};

TEST_F(TemplateCommand, RendersEveryVariableWithoutAddingAnything) {
  const auto result = render("{{ who }}:{% for m in messages %}[{{ m.role }}|{{ m.content }}]{% endfor %}",
                             R"({"who": "x", "messages": [{"role": "user", "content": "hi\n"}]})");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "x:[user|hi\n]");
  EXPECT_EQ(result.err, "");
}

TEST_F(TemplateCommand, TakesABareListOfMessages) {
  const auto result =
      render("{{ messages[0].content }}{{ add_generation_prompt }}", R"([{"role": "user", "content": "a"}])");
  EXPECT_EQ(result.out, "aTrue");
}

TEST_F(TemplateCommand, NowSetsTheClock) {
  const auto result = render("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}", "{}", {"--now", "2025-03-14 09:26:53"});
  EXPECT_EQ(result.out, "2025-03-14 09:26:53");
}

TEST_F(TemplateCommand, FaultsAreFailuresWithAReason) {
  const auto raised = render("{{ raise_exception('no system role') }}", "{}");
  EXPECT_EQ(raised.exit_code, 1);
  EXPECT_THAT(raised.err, HasSubstr("no system role"));
  const auto syntax = render("line\n{% if %}", "{}");
  EXPECT_EQ(syntax.exit_code, 1);
  EXPECT_THAT(syntax.err, HasSubstr("line 2"));
  EXPECT_EQ(render("x", "{").exit_code, 1);
  EXPECT_THAT(render("x", "3").err, HasSubstr("expected an object of variables or a list of messages, found number"));
  EXPECT_EQ(render("x", "{}", {"--now", "yesterday"}).exit_code, 1);
}

}  // namespace
}  // namespace ferrox
