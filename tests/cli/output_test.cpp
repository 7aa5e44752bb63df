// Is lost output a failure, and does a message that nobody can read never stop the work?
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/main.h"

namespace ferrox {
namespace {

enum class Sink { kFullDevice, kClosed };

void lose(int descriptor, Sink sink) {
  if (sink == Sink::kClosed) {
    close(descriptor);
  } else {
    dup2(open("/dev/full", O_WRONLY), descriptor);
  }
}

/// The exit code of `ferrox <arguments...>` in a process of its own whose output on `lost` goes nowhere.
int exit_code_without(int lost, Sink sink, const std::vector<std::string>& arguments) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int other = lost == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO;
    dup2(open("/dev/null", O_WRONLY), other);
    lose(lost, sink);
    std::vector<const char*> argv = {"ferrox"};
    for (const auto& argument : arguments) argv.push_back(argument.c_str());
    _exit(run_command_line(static_cast<int>(argv.size()), argv.data()));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

const std::vector<std::vector<std::string>> kPrintingCommands = {
    {"--help"},
    {"--version"},
    {"run", "--help"},
    {"info"},
    {"info", "--json"},
    {"inspect"},
    {"inspect", "--json"},
    {"tokenize", "hello"},
    {"tokenize", "--ids", "hello"},
    {"bench", "-p", "1", "-n", "0", "-r", "1", "-t", "1"},
    {"run", "-t", "1", "-n", "2", "hello"},
};

TEST(Output, WhatIsLostIsAFailure) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no full device here";
  for (const auto& arguments : kPrintingCommands) {
    EXPECT_EQ(exit_code_without(STDOUT_FILENO, Sink::kFullDevice, arguments), 1) << arguments.front();
    EXPECT_EQ(exit_code_without(STDOUT_FILENO, Sink::kClosed, arguments), 1) << arguments.front();
  }
}

TEST(Output, MessagesThatNobodyReadsChangeNothing) {
  for (const Sink sink : {Sink::kFullDevice, Sink::kClosed}) {
    EXPECT_EQ(exit_code_without(STDERR_FILENO, sink, {"run", "-t", "1", "-n", "2", "hello"}), 0);
    EXPECT_EQ(exit_code_without(STDERR_FILENO, sink, {"inspect", "/no/such/file"}), 1);
    EXPECT_EQ(exit_code_without(STDERR_FILENO, sink, {"nonsense"}), 2);
  }
}

TEST(Output, AFileNeverTakesTheNumberOfAClosedStream) {
  const std::string path = ::testing::TempDir() + "ferrox-output-test-logits.bin";
  const std::vector<std::string> arguments = {"logits", "--tokens", "1", "--out", path, "-t", "1"};
  ASSERT_EQ(exit_code_without(STDOUT_FILENO, Sink::kFullDevice, arguments), 0);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  std::fseek(file, 0, SEEK_END);
  const long n_bytes = std::ftell(file);
  std::fclose(file);
  for (const int lost : {STDOUT_FILENO, STDERR_FILENO}) {
    exit_code_without(lost, Sink::kClosed, arguments);
    file = std::fopen(path.c_str(), "rb");
    std::fseek(file, 0, SEEK_END);
    EXPECT_EQ(std::ftell(file), n_bytes);
    std::fclose(file);
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace ferrox
