// How is one test measured? With random tokens, the machine's limits and the peer taken in turn with it.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "base/result.h"
#include "cli/bench_plan.h"
#include "cli/bench_report.h"
#include "cli/machine_limits.h"
#include "cli/peer_bench.h"
#include "engine/evaluator.h"

namespace ferrox {

struct BenchRepetitions {
  int32_t n = 5;
  bool warms_up = true;   ///< one unmeasured pass before them
  bool profiles = false;  ///< fills BenchRow::profile; sampling is then part of what is measured
};

/// Speed doesn't depend on what the tokens are. A shared machine changes by the second, hence limits and peer in turn.
class BenchRunner {
 public:
  BenchRunner(Evaluator& evaluator, LimitProbe& probe, std::optional<PeerRun> peer)
      : evaluator_(evaluator), probe_(probe), peer_(std::move(peer)) {}

  Result<BenchRow> run(const BenchTest& test, const BenchRepetitions& repetitions);

 private:
  std::vector<int32_t> random_tokens(int64_t n);
  void truncate(const BenchTest& test, int64_t n);
  Result<void> prompt(const BenchTest& test, int64_t n_tokens);
  Result<void> generate(const BenchTest& test, int64_t n_tokens);
  Result<void> sample(std::span<const float> logits);

  Evaluator& evaluator_;
  LimitProbe& probe_;
  std::optional<PeerRun> peer_;
  Profile* profile_ = nullptr;  ///< of the repetition that runs
  std::mt19937 random_{1};
};

}  // namespace ferrox
