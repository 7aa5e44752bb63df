// Does every command tell its options, and does a wrong command line say what was meant?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "command_run.h"
#include "gguf/writer.h"
#include "server/keys/keys_file.h"
#include "support/temp_folder.h"
#include "tensor/kv_type.h"

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
      {{"info", "--", "stray"}, "unexpected argument 'stray'"},
      {{"run", "-l", "5+nan", "hi"}, "--logit-bias: expected ID+BIAS or ID-BIAS, found '5+nan'"},
      {{"run", "-m", "", "hi"}, "--model: expected a value, found an empty one"},
      {{"run", "-f", "", "hi"}, "--file: expected a value, found an empty one"},
      {{"run", "--chat-template-file", "", "hi"}, "expected a value, found an empty one"},
      {{"run", "--chat-template", "x", "--chat-template-file", "y", "hi"}, "excludes"},
      {{"run", "--no-cnv", "-sys", "x", "hi"}, "excludes"},
      {{"serve", "--api-key-file", ""}, "--api-key-file: expected a value, found an empty one"},
      {{"serve", "--keys-file", ""}, "--keys-file: expected a value, found an empty one"},
      {{"serve", "--api-key", "k", "--api-key", "k"}, "api keys: expected each name once"},
      {{"serve", "--ssl-cert-file", "cert.pem"}, "--ssl-cert-file requires --ssl-key-file"},
      {{"serve", "--ssl-key-file", "key.pem"}, "--ssl-key-file requires --ssl-cert-file"},
      {{"key"}, "--name is required"},
      {{"key", "--name", "a b"}, "--name: expected letters, digits, '_', '.' and '-', found \"a b\""},
      {{"serve", "--host", ""}, "--host: expected a value, found an empty one"},
      {{"inspect", ""}, "expected a value, found an empty one"},
      {{"inspect", "--full"}, "--full requires --json"},
      {{"inspect", "-c", "512"}, "--ctx-size requires --fit"},
      {{"inspect", "-np", "2"}, "--parallel requires --fit"},
      {{"inspect", "--fit", "--json"}, "expected neither --json nor --tensor beside it"},
      {{"serve", "-np", "1.5"}, "expected a whole number, found '1.5'"},
      {{"serve", "--port", "65536"}, "expected a number from 0 to 65535"},
      {{"serve", "-c", "1"}, "--ctx-size: expected a prompt's position and one to generate, found 1"},
      {{"run", "--memory-budget", "0", "hi"}, "--memory-budget: expected a number such as 512M"},
      {{"run", "--mirostat-ent", "3", "hi"}, "--mirostat-ent requires --mirostat"},
      {{"run", "--dry-base", "2", "hi"}, "--dry-base requires --dry-multiplier"},
      {{"chat", "--xtc-threshold", "0.2"}, "--xtc-threshold requires --xtc-probability"},
      {{"run", "--kv", "contiguous", "--page-size", "64", "hi"}, "--page-size 64: contiguous storage has no pages"},
      {{"serve", "--kv", "contiguous", "-np", "4"}, "--parallel 4: contiguous storage runs one request at a time"},
      {{"serve", "--host", "0.0.0.0"}, "--allow-unauthenticated-remote"},
      {{"run", "--kv-bytes", "10X", "hi"}, "--kv-bytes: expected a number such as 512M"},
      {{"tokenize", "hello", "-f", "/nope"}, "expected one of a text, --file and --jsonl"},
      {{"tokenize", "hello", "--jsonl"}, "expected one of a text, --file and --jsonl"},
      {{"template", "-f", "x", "-m", "y"}, "excludes"},
      {{"bench", "-t", "4097"}, "threads: expected 0 to 4096, found 4097"},
      {{"bench", "-t", "2147483648"}, "threads: expected 0 to 4096, found 2147483648"},
      {{"bench", "-p", "0", "-n", "0"}, "expected a prompt or a generation to measure"},
      {{"bench", "-p", "x"}, "expected numbers such as 512"},
      {{"bench", "-o", "xml"}, "--output: expected md, json, jsonl or csv, found 'xml'"},
      {{"serve", "--log-level", "loud"}, "loud"},
      {{"run", "-ngl", "99", "x"}, "-ngl: ferrox runs on the CPU alone"},
      {{"serve", "--n-gpu-layers=99"}, "--n-gpu-layers: ferrox runs on the CPU alone"},
      {{"bench", "-fa", "1"}, "-fa: attention is always computed in tiles"},
      {{"chat", "--no-mmap"}, "--no-mmap: model files are always mapped"},
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

TEST(CommandLine, AKeysFileThatIsWrongIsAFailureWithItsPlace) {
  const testing::TempFolder folder;
  const std::string path = folder / "keys.json";
  std::ofstream(path) << R"({"keys": [{"name": "a", "sha256": "b"}]})";
  const auto wrong = run_ferrox({"serve", "--keys-file", path});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr(path + ": keys[0]: sha256: expected 64 hexadecimal digits"));
  EXPECT_EQ(run_ferrox({"serve", "--keys-file", folder / "none.json"}).exit_code, 1);
}

TEST(CommandLine, ANewKeyIsPrintedOnceBesideItsEntry) {
  const auto made = run_ferrox({"key", "--name", "alice"});
  EXPECT_EQ(made.exit_code, 0);
  const std::string key = made.out.substr(0, made.out.find('\n'));
  EXPECT_THAT(key, ::testing::MatchesRegex("fx-[0-9a-f]+"));
  const std::string entry = made.out.substr(key.size() + 1);
  const auto keys = parse_keys_file("{\"keys\": [" + entry + "]}", "keys.json");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->front().name, "alice");
  EXPECT_EQ(keys->front().sha256, digest_of(key));
}

TEST(CommandLine, AFileThatCantBeReadIsAFailure) {
  const std::string loop = ::testing::TempDir() + "ferrox-loop";
  std::filesystem::remove(loop);
  std::filesystem::create_symlink(loop, loop);
  for (const std::string& path : {loop, std::string(300, 'a'), std::string(5000, 'a'), std::string("/proc/self/mem")}) {
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"run", "hi", "-f", path},
                                               {"run", "hi", "--chat-template-file", path},
                                               {"run", "hi", "-m", path},
                                               {"serve", "--api-key-file", path},
                                               {"tokenize", "-f", path},
                                               {"template", "--messages", path}}) {
      const auto result = run_ferrox(arguments);
      EXPECT_EQ(result.exit_code, 1) << arguments[0] << " " << path.substr(0, 20);
      EXPECT_THAT(result.err, ::testing::StartsWith("ferrox: error: "));
    }
  }
  std::filesystem::remove(loop);
}

TEST(CommandLine, ARepeatableOptionTakesOneValueEachTime) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--stop", "foo"}, {"-r", "foo", "-r", "bar"}, {"-l", "5+1"}, {"--dry-sequence-breaker", "x"}}) {
    std::vector<std::string> arguments = {"run", "-q", "-n", "1", "-t", "1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("hello");
    EXPECT_EQ(run_ferrox(arguments).exit_code, 0) << options.front();
  }
  EXPECT_EQ(run_ferrox({"serve", "--api-key", "a", "stray"}).exit_code, 2);
  EXPECT_EQ(run_ferrox({"serve", "--allowed-host", "a", "stray"}).exit_code, 2);
  EXPECT_EQ(run_ferrox({"bench", "-pg", "1,2", "stray"}).exit_code, 2);
}

TEST(CommandLine, WordsOfAPromptStayAsTheyAre) {
  const auto answer = [](std::vector<std::string> words) {
    std::vector<std::string> arguments = {"run", "-q", "--no-cnv", "--temp", "0", "-n", "8", "-t", "1"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return run_ferrox(arguments).out;
  };
  EXPECT_EQ(answer({"[hello,there]", "you"}), answer({"-p", "[hello,there] you"}));
  EXPECT_EQ(answer({"--", "-x", "y"}), answer({"-p", "-x y"}));
}

TEST(CommandLine, WhatAFileSaysNeverReachesTheTerminalRawOrAtLength) {
  const std::string path = ::testing::TempDir() + "ferrox-hostile-pre.gguf";
  GgufWriter writer;
  writer.set_string("general.architecture", "llama");
  writer.set_string("tokenizer.ggml.model", "\x1b[2J" + std::string(100000, 'x'));
  writer.set_strings("tokenizer.ggml.tokens", {"a"});
  ASSERT_TRUE(writer.write(path));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"tokenize", "-m", path, "hi"}, {"run", "-m", path, "hi"}}) {
    const auto result = run_ferrox(arguments);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(path));
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
    EXPECT_LT(result.err.size(), 3000u);
  }
  std::filesystem::remove(path);
}

TEST(CommandLine, AWordThatLooksLikeARefusedFlagIsStillAWord) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-p", "-ngl"}, {"--", "-ngl"}, {"-q", "--stop", "-fa", "hi"}}) {
    std::vector<std::string> arguments = {"run", "-n", "1", "-t", "1"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    EXPECT_EQ(run_ferrox(arguments).exit_code, 0) << words[0];
  }
}

TEST(CommandLine, HelpNamesEveryKvType) {
  for (const std::string command : {"bench", "logits", "run", "serve", "perplexity"}) {
    const auto help = run_ferrox({command, "--help"}).out;
    for (const KvType& type : kKvTypes) EXPECT_THAT(help, HasSubstr(std::string(type.name))) << command;
  }
}

TEST(CommandLine, LlamaCppShortFlagsAreUnderstood) {
  const auto result = run_ferrox({"serve", "-np", "2", "-ctk", "q1", "-m", "none.gguf"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("KV cache type 'q1': expected f16, bf16, f32, q8_0, q4_0 or turbo4"));
}

}  // namespace
}  // namespace ferrox
