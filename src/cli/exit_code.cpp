#include "cli/exit_code.h"

#include <cstdio>

#include <fmt/format.h>

namespace ferrox {

ExitCode report_failure(const Error& error) {
  fmt::print(stderr, "ferrox: error: {}\n", error.message);
  return ExitCode::kFailed;
}

ExitCode report_usage(const Error& error) {
  fmt::print(stderr, "ferrox: error: {}\n", error.message);
  return ExitCode::kUsage;
}

ExitCode report_option(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument ? report_usage(error) : report_failure(error);
}

}  // namespace ferrox
