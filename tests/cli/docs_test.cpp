// Do the pages of docs/ know every command, flag and format?
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/command.h"
#include "cli/load_options.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Docs, TheCommandLinePageNamesEveryCommandAndFlag) {
  const std::string page = text_of(FERROX_SOURCE_DIR "/docs/cli.md");
  ASSERT_FALSE(page.empty());
  for (auto command = all_command; *command != nullptr; ++command) {
    EXPECT_NE(page.find(std::string("\n## ") + (*command)->name + "\n"), std::string::npos) << (*command)->name;
    CLI::App app;
    const auto run = (*command)->add(app);
    for (const CLI::Option* option : app.get_options()) {
      bool named = option->get_lnames().empty();  // a positional
      for (const auto& name : option->get_lnames())
        named |= name == "help" || page.find("--" + name) != std::string::npos;
      for (const auto& name : option->get_snames()) named |= page.find("-" + name + " ") != std::string::npos;
      EXPECT_TRUE(named) << (*command)->name << " " << option->get_name();
    }
  }
}

TEST(Docs, TheCommandLinePageNamesEveryKvType) {
  const std::string page = text_of(FERROX_SOURCE_DIR "/docs/cli.md");
  EXPECT_NE(page.find("cached keys and values: " + kv_type_names() + " |"), std::string::npos);
}

TEST(Docs, TheFormatsPageHasARowPerFormat) {
  const std::string page = text_of(FERROX_SOURCE_DIR "/docs/formats.md");
  for (const auto* const* format = all_format; *format != nullptr; ++format) {
    const std::string row =
        fmt::format("| {} | {} | {} |", (*format)->name, (*format)->block_elements, (*format)->block_bytes);
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace ferrox
