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

/// Prints "ferrox: error: <message>" to stderr and gives kUsage.
ExitCode report_usage(const Error& error);

}  // namespace ferrox
