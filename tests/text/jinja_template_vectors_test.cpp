// Do real templates give what Python's Jinja2 gives?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/file_bytes.h"
#include "support/vectors.h"
#include "text/jinja_support.h"

namespace ferrox::testing {
namespace {

Json read_json(const std::filesystem::path& path) { return Json::parse(read_file(path)); }

std::vector<std::filesystem::path> templates_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jinja") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Compares one conversation with what Python gave: an output, the template's own words, or any error.
void expect_like_python(const Result<Rendered>& rendered, const Json& expected, const std::string& name) {
  if (expected.contains("output")) {
    ASSERT_TRUE(rendered.has_value()) << name << ": " << rendered.error().message;
    EXPECT_EQ(rendered->text(), expected["output"].get<std::string>()) << name;
    return;
  }
  ASSERT_FALSE(rendered.has_value()) << name << ": expected an error";
  EXPECT_EQ(rendered.error().code, ErrorCode::kInvalidArgument) << name;
  EXPECT_THAT(rendered.error().message, ::testing::StartsWith("template line ")) << name;
  if (expected.contains("raises")) {
    EXPECT_EQ(raised_message(rendered.error()), expected["raises"].get<std::string>()) << name;
  }
}

TEST(TemplateVectors, EveryRealTemplateRendersLikePython) {
  FERROX_VECTORS_OR_SKIP(folder, template_dir());
  const Json cases = read_json(folder / "cases.json");
  size_t n_compared = 0;
  for (const auto& path : templates_in(folder)) {
    const auto parsed = JinjaTemplate::parse(read_file(path));
    ASSERT_TRUE(parsed.has_value()) << path << ": " << parsed.error().message;
    const Json expected = read_json(std::filesystem::path(path).replace_extension(".expected.json"));
    for (const auto& [name, variables] : cases.items()) {
      Json all = variables;
      all["bos_token"] = "<s>";
      all["eos_token"] = "</s>";
      expect_like_python(parsed->render(all, fixed_clock()), expected.at(name), path.stem().string() + " / " + name);
      ++n_compared;
    }
  }
  EXPECT_EQ(n_compared, cases.size() * templates_in(folder).size());
  EXPECT_GE(n_compared, 400U);
  testing::record_vectors(n_compared);
}

/// No text of a message may come out as the template's, whatever the template does to it.
TEST(TemplateVectors, UserTextIsNeverTheTemplates) {
  FERROX_VECTORS_OR_SKIP(folder, template_dir());
  constexpr std::string_view kWord = "<|qz_control_qz|>";
  const Json variables = {{"messages", Json::array({{{"role", "user"}, {"content", kWord}}})},
                          {"add_generation_prompt", true},
                          {"bos_token", "<s>"},
                          {"eos_token", "</s>"}};
  size_t n_shown = 0;
  for (const auto& path : templates_in(folder)) {
    const auto parsed = JinjaTemplate::parse(read_file(path));
    ASSERT_TRUE(parsed.has_value()) << path;
    const auto rendered = parsed->render(variables, fixed_clock());
    ASSERT_TRUE(rendered.has_value()) << path << ": " << rendered.error().message;
    for (const auto& segment : rendered->segments()) {
      const bool shows = segment.text.find("qz_control_qz") != std::string::npos;
      n_shown += shows ? 1 : 0;
      EXPECT_FALSE(shows && segment.is_template) << path;
    }
  }
  EXPECT_GE(n_shown, templates_in(folder).size());
}

}  // namespace
}  // namespace ferrox::testing
