// What does a row of logits say before anything is changed in it?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/request.h"
#include "engine/samplers/candidates.h"

namespace ferrox {

/// Some logit is finite, and none is NaN or +infinity.
bool has_usable_logits(std::span<const float> logits);

/// The index of the highest logit; of equal ones the lowest index. `logits` must not be empty.
int32_t argmax(std::span<const float> logits);

/// Log-probabilities of a sampled token and of those most likely beside it.
struct LogprobReport {
  TokenLogprob chosen;
  std::vector<TokenLogprob> top;  ///< descending, ties by id
};

/// Of the softmax of the whole row, which is read and not changed. n_top is cut to the row's length.
LogprobReport row_logprobs(std::span<float> logits, int32_t chosen, int32_t n_top);

/// Of a list of candidates that the chain left, `chosen` among them.
LogprobReport list_logprobs(Candidates candidates, int32_t chosen, int32_t n_top);

}  // namespace ferrox
