// How fast is another engine on the same test? Runs any llama-bench once and reads its answer.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/bench_plan.h"

namespace ferrox {

struct PeerRun {
  std::string program;  ///< path of a llama-bench
  std::string model_path;
  int32_t batch_rows;
};

/// Tokens a second of one run of `test`. Errors: a program that can't be started, fails or answers something else.
Result<double> run_peer(const PeerRun& peer, const BenchTest& test);

}  // namespace ferrox
