// How do rows of many requests become one batch? Arrays that live from step to step.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "engine/running_request.h"
#include "nn/model.h"
#include "sched/step_planner.h"

namespace ferrox {

class StepBatch {
 public:
  /// Of at most max_requests requests.
  StepBatch(int32_t n_vocab, int32_t max_requests)
      : n_vocab_(static_cast<size_t>(n_vocab)), logits_(int64_t{n_vocab} * max_requests) {}

  /// Bytes of the logits that it holds.
  static uint64_t logit_bytes(int32_t n_vocab, int32_t max_requests) {
    return static_cast<uint64_t>(n_vocab) * static_cast<uint64_t>(max_requests) * sizeof(float);
  }

  void clear();

  /// Adds the next n_rows rows of a request; logits are asked for only where they are wanted: one row at most.
  void add(RunningRequest& request, int32_t n_rows);

  /// Valid until clear() or add(). `is_given_up` as Batch has it.
  Batch batch(std::function<bool()> is_given_up = {}) const {
    return {tokens_, segments_, logit_rows_, std::move(is_given_up)};
  }

  /// Room for one row of logits for each logit row, [n_logit_rows][n_vocab].
  float* all_logits() { return logits_.data(); }

  /// The logits of logit row i.
  std::span<float> logits(size_t i) { return {logits_.data() + i * n_vocab_, n_vocab_}; }

 private:
  size_t n_vocab_;
  std::vector<int32_t> tokens_;
  std::vector<BatchSegment> segments_;
  std::vector<int32_t> logit_rows_;
  AlignedBuffer<float> logits_;  ///< [max_requests][n_vocab], touched as rows are wanted
};

}  // namespace ferrox
