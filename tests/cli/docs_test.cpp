// Does docs/cli.md know every command and every flag?
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/command.h"

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

}  // namespace
}  // namespace ferrox
