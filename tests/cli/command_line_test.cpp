// Does every command tell its options, and does a wrong command line say what was meant?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command.h"
#include "command_run.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::run_ferrox;

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (auto command = all_command; *command != nullptr; ++command) names.emplace_back((*command)->name);
  return names;
}

TEST(CommandLine, OverviewListsEveryCommand) {
  const auto result = run_ferrox({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const auto& name : command_names()) EXPECT_THAT(result.out, HasSubstr("\n  " + name));
  EXPECT_EQ(result.err, "");
}

TEST(CommandLine, WithoutArgumentsItIsAUsageErrorAndStdoutStaysEmpty) {
  const auto result = run_ferrox({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("usage: ferrox COMMAND"));
}

TEST(CommandLine, VersionIsOneLine) {
  const auto result = run_ferrox({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, ::testing::MatchesRegex("ferrox [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLine, EveryCommandHasHelpOfItsOwn) {
  for (const auto& name : command_names()) {
    const auto result = run_ferrox({name, "--help"});
    EXPECT_EQ(result.exit_code, 0) << name;
    EXPECT_THAT(result.out, HasSubstr("Usage: ferrox " + name));
    EXPECT_EQ(result.out, run_ferrox({"help", name}).out);
  }
}

TEST(CommandLine, EveryCommandNamesAnUnknownFlagAndIsAUsageError) {
  for (const auto& name : command_names()) {
    const auto result = run_ferrox({name, "--no-such-flag-anywhere"});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_EQ(result.out, "") << name;
    EXPECT_NE(result.err, "") << name;
  }
}

struct Refusal {
  std::vector<std::string> arguments;
  std::string message;
};

TEST(CommandLine, RefusalsSayWhatWasExpectedOrMeant) {
  const std::vector<Refusal> refusals = {
      {{"rnu"}, "unknown command 'rnu'; did you mean 'run'?"},
      {{"xyzzy"}, "unknown command 'xyzzy'; 'ferrox --help' lists them"},
      {{"help", "serv"}, "unknown command 'serv'; did you mean 'serve'?"},
      {{"run", "--tepm", "1", "x"}, "unknown flag --tepm; did you mean --temp?"},
      {{"run", "--top_k=3", "x"}, "unknown flag --top_k=3; did you mean --top-k?"},
      {{"run", "--qqqqqqqqqqq", "x"}, "unknown flag --qqqqqqqqqqq; 'ferrox run --help' lists them"},
      {{"run", "--temp", "hot", "x"}, "expected a number from 0 to 100, found 'hot'"},
      {{"run", "--temp", "nan", "x"}, "expected a number from 0 to 100, found 'nan'"},
      {{"run", "--top-p", "1.5", "x"}, "expected a number from 0 to 1, found '1.5'"},
      {{"run", "--mirostat", "3", "x"}, "expected a number from 0 to 2, found '3'"},
      {{"run", "--samplers", "top_k;tpo_p", "x"}, "unknown sampler 'tpo_p'; did you mean top_p?"},
      {{"run", "--logit-bias", "x+1", "x"}, "--logit-bias: expected ID+BIAS or ID-BIAS, found 'x+1'"},
      {{"run", "--stop", "", "x"}, "--stop: expected a text, found an empty one"},
      {{"info", "stray"}, "unexpected argument 'stray'"},
      {{"bench", "-p", "x"}, "expected numbers such as 512"},
      {{"bench", "-o", "xml"}, "--output: expected md, json, jsonl or csv, found 'xml'"},
      {{"serve", "--log-level", "loud"}, "loud"},
  };
  for (const auto& [arguments, message] : refusals) {
    const auto result = run_ferrox(arguments);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_THAT(result.err, ::testing::StartsWith("ferrox: error: "));
    EXPECT_EQ(result.out, "");
  }
}

TEST(CommandLine, AFileThatIsNoModelIsAFailureWithItsReason) {
  const std::string folder = ::testing::TempDir();
  for (const std::string command : {"inspect", "run", "tokenize", "bench", "serve"}) {
    const std::vector<std::string> rest =
        command == "run" ? std::vector<std::string>{"hello"} : std::vector<std::string>{};
    const auto run_on = [&](const std::string& path) {
      std::vector<std::string> arguments = {command, "-m", path};
      arguments.insert(arguments.end(), rest.begin(), rest.end());
      return run_ferrox(arguments);
    };
    const auto missing = run_on(folder + "no-such-file.gguf");
    EXPECT_EQ(missing.exit_code, 1) << command;
    EXPECT_THAT(missing.err, HasSubstr("No such file or directory")) << command;
    const auto directory = run_on(folder);
    EXPECT_EQ(directory.exit_code, 1) << command;
    EXPECT_THAT(directory.err, HasSubstr("expected a file, found a directory")) << command;
  }
}

TEST(CommandLine, LlamaCppShortFlagsAreUnderstood) {
  const auto result = run_ferrox({"serve", "-np", "2", "-ctk", "q1", "-m", "none.gguf"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("kv cache type: expected f32, f16 or bf16, found 'q1'"));
}

}  // namespace
}  // namespace ferrox
