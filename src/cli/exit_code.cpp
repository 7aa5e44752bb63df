#include "cli/exit_code.h"

#include "cli/metadata_view.h"
#include "cli/output.h"

namespace ferrox {
namespace {

constexpr size_t kMostMessageBytes = 2000;  // what a file or a user spelled at length is cut

/// What a file says never reaches the terminal raw.
void print_error(const Error& error) { print_err("ferrox: error: {}\n", printable(error.message, kMostMessageBytes)); }

}  // namespace

ExitCode report_failure(const Error& error) {
  print_error(error);
  return ExitCode::kFailed;
}

ExitCode report_usage(const Error& error) {
  print_error(error);
  return ExitCode::kUsage;
}

ExitCode report_option(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument ? report_usage(error) : report_failure(error);
}

}  // namespace ferrox
