// How do rows of many requests become one batch? Arrays that live from step to step and grow with what runs.
#pragma once

#include <span>
#include <vector>

#include "engine/running_request.h"
#include "nn/model.h"
#include "sched/step_planner.h"

namespace ferrox {

class StepBatch {
 public:
  explicit StepBatch(int32_t n_vocab) : n_vocab_(static_cast<size_t>(n_vocab)) {}

  void clear();

  /// Adds the next n_rows rows of a request; logits are asked for only where they are wanted: one row at most.
  void add(RunningRequest& request, int32_t n_rows);

  /// Valid until clear() or add().
  Batch batch() const { return {tokens_, segments_, logit_rows_}; }

  /// Room for one row of logits for each logit row, [n_logit_rows][n_vocab].
  float* prepare_logits();

  /// The logits of logit row i.
  std::span<float> logits(size_t i) { return std::span(logits_).subspan(i * n_vocab_, n_vocab_); }

 private:
  size_t n_vocab_;
  std::vector<int32_t> tokens_;
  std::vector<BatchSegment> segments_;
  std::vector<int32_t> logit_rows_;
  std::vector<float> logits_;
};

}  // namespace ferrox
