// What does the program's exit code say? The table that docs/cli.md prints.
#pragma once

#include "base/result.h"

namespace ferrox {

enum class ExitCode : int {
  kSuccess = 0,
  kFailed = 1,         ///< the command line was right, the work failed: a bad file, no memory, a refused prompt
  kUsage = 2,          ///< the command line was wrong: unknown command or flag, a value out of range
  kInterrupted = 130,  ///< Ctrl-C ended the work
};

/// Prints "ferrox: error: <message>" to stderr and gives kFailed.
ExitCode report_failure(const Error& error);

/// The same, and kUsage.
ExitCode report_usage(const Error& error);

/// For errors of option values: kUsage when the value itself is wrong, kFailed when what it names is (a file).
ExitCode report_option(const Error& error);

}  // namespace ferrox
