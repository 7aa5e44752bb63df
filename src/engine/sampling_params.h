// What may a request ask of sampling? Plain data; defaults and names are llama.cpp's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ferrox {

enum class SamplerKind { kPenalties, kDry, kTopNSigma, kTopK, kTypical, kTopP, kMinP, kXtc, kTemperature };

/// llama.cpp's default chain.
inline std::vector<SamplerKind> default_sampler_order() {
  using enum SamplerKind;
  return {kPenalties, kDry, kTopNSigma, kTopK, kTypical, kTopP, kMinP, kXtc, kTemperature};
}

struct SamplingParams {
  uint64_t seed = 0;         ///< resolved by the caller: a request without one gets a random one, and is told
  float temperature = 0.8f;  ///< <= 0: greedy, ties to the lowest id
  float dynatemp_range = 0.0f;
  float dynatemp_exponent = 1.0f;
  int32_t top_k = 40;  ///< <= 0: off
  float top_p = 0.95f;
  float min_p = 0.05f;
  float typical_p = 1.0f;
  float top_n_sigma = -1.0f;  ///< <= 0: off
  float xtc_probability = 0.0f;
  float xtc_threshold = 0.1f;
  float repeat_penalty = 1.0f;
  float presence_penalty = 0.0f;
  float frequency_penalty = 0.0f;
  int32_t repeat_last_n = 64;   ///< 0: off, -1: the whole context
  float dry_multiplier = 0.0f;  ///< 0: off
  float dry_base = 1.75f;
  int32_t dry_allowed_length = 2;
  int32_t dry_penalty_last_n = -1;
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};
  int32_t mirostat = 0;  ///< 0: off, 1, 2
  float mirostat_tau = 5.0f;
  float mirostat_eta = 0.1f;
  int32_t min_keep = 0;
  std::vector<SamplerKind> order = default_sampler_order();

  std::vector<std::pair<int32_t, float>> logit_bias;  ///< added to these ids' logits; -infinity bans
  std::vector<int32_t> allowed_tokens;                ///< when not empty, nothing else may be sampled
  int64_t min_tokens = 0;                             ///< end-of-generation tokens are banned before this many

  int32_t n_logprobs = -1;              ///< -1: none; 0: the sampled token's only; N: the N most likely beside it
  bool post_sampling_logprobs = false;  ///< of the distribution after the chain instead of before it
};

}  // namespace ferrox
