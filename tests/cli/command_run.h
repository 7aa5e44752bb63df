// How does a test run a command? In this process, with stdout and stderr caught.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/main.h"

namespace ferrox::testing {

struct CommandResult {
  int exit_code;
  std::string out;
  std::string err;
};

/// `ferrox <arguments...>`.
inline CommandResult run_ferrox(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"ferrox"};
  for (const auto& argument : arguments) argv.push_back(argument.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int exit_code = run_command_line(static_cast<int>(argv.size()), argv.data());
  std::fflush(nullptr);
  std::string out = ::testing::internal::GetCapturedStdout();
  std::string err = ::testing::internal::GetCapturedStderr();
  return {exit_code, std::move(out), std::move(err)};
}

}  // namespace ferrox::testing
