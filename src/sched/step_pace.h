// How many rows may a step have while others wait for their next token? As many as its time allows, learnt from steps.
#pragma once

#include <cstdint>

namespace ferrox {

/// Work that is shared by more rows costs no more for each of them: cost(k n) <= k cost(n) for k >= 1. So a step of n
/// rows that left time says how many more surely fit, and the limit grows without a step that takes too long; one that
/// took too long lowers it at once. Not for several threads.
class StepPace {
 public:
  /// max_gap_ms 0: a step has max_rows rows.
  StepPace(int64_t max_gap_ms, int32_t max_rows);

  /// The most rows of a step, at most max_rows and at least kLeastPromptRows where max_rows is that much.
  int32_t most_rows() const;

  /// A step of n_rows rows took so many milliseconds.
  void record(int64_t n_rows, double ms);

 private:
  double max_gap_ms_;
  double least_rows_;
  double max_rows_;
  double rows_;
};

}  // namespace ferrox
