#include "engine/sampling_check.h"

#include "engine/samplers/candidates.h"

namespace ferrox {
namespace {

constexpr float kMaxMagnitude = 1e6f;  // of any number of a request: far beyond use, far inside float
constexpr size_t kMaxOrderLength = 64;

Result<void> check_range(const char* name, float value, float low, float high) {
  if (value >= low && value <= high) return {};  // false for NaN
  return make_error(ErrorCode::kInvalidArgument, "{}: expected {} to {}, found {}", name, low, high, value);
}

Result<void> check_token(const char* name, int32_t id, int32_t n_vocab) {
  if (id >= 0 && id < n_vocab) return {};
  return make_error(ErrorCode::kInvalidArgument, "{}: expected a token id of 0 to {}, found {}", name, n_vocab - 1, id);
}

Result<void> check_numbers(const SamplingParams& params) {
  constexpr float kNone = -kMaxMagnitude;
  TRY(check_range("temperature", params.temperature, kNone, kMaxMagnitude));
  TRY(check_range("dynatemp_range", params.dynatemp_range, kNone, kMaxMagnitude));
  TRY(check_range("dynatemp_exponent", params.dynatemp_exponent, kNone, kMaxMagnitude));
  TRY(check_range("top_p", params.top_p, kNone, kMaxMagnitude));
  TRY(check_range("min_p", params.min_p, kNone, kMaxMagnitude));
  TRY(check_range("typical_p", params.typical_p, kNone, kMaxMagnitude));
  TRY(check_range("top_n_sigma", params.top_n_sigma, kNone, kMaxMagnitude));
  TRY(check_range("xtc_probability", params.xtc_probability, kNone, kMaxMagnitude));
  TRY(check_range("xtc_threshold", params.xtc_threshold, kNone, kMaxMagnitude));
  TRY(check_range("repeat_penalty", params.repeat_penalty, 1.0f / kMaxMagnitude, kMaxMagnitude));
  TRY(check_range("presence_penalty", params.presence_penalty, kNone, kMaxMagnitude));
  TRY(check_range("frequency_penalty", params.frequency_penalty, kNone, kMaxMagnitude));
  TRY(check_range("dry_multiplier", params.dry_multiplier, 0.0f, kMaxMagnitude));
  TRY(check_range("dry_base", params.dry_base, 0.0f, kMaxMagnitude));
  TRY(check_range("mirostat_tau", params.mirostat_tau, 0.0f, kMaxMagnitude));
  TRY(check_range("mirostat_eta", params.mirostat_eta, 0.0f, kMaxMagnitude));
  return {};
}

Result<void> check_counts(const SamplingParams& params) {
  const auto check = [](const char* name, int64_t value, int64_t low) -> Result<void> {
    if (value >= low) return {};
    return make_error(ErrorCode::kInvalidArgument, "{}: expected {} or more, found {}", name, low, value);
  };
  TRY(check("repeat_last_n", params.repeat_last_n, -1));
  TRY(check("dry_penalty_last_n", params.dry_penalty_last_n, -1));
  TRY(check("dry_allowed_length", params.dry_allowed_length, 0));
  TRY(check("min_keep", params.min_keep, 0));
  TRY(check("min_tokens", params.min_tokens, 0));
  TRY(check("n_logprobs", params.n_logprobs, -1));
  if (params.mirostat < 0 || params.mirostat > 2) {
    return make_error(ErrorCode::kInvalidArgument, "mirostat: expected 0, 1 or 2, found {}", params.mirostat);
  }
  if (params.order.size() > kMaxOrderLength) {
    return make_error(ErrorCode::kInvalidArgument, "samplers: expected at most {}, found {}", kMaxOrderLength,
                      params.order.size());
  }
  return {};
}

}  // namespace

Result<void> validate_sampling(const SamplingParams& params, int32_t n_vocab) {
  TRY(check_numbers(params));
  TRY(check_counts(params));
  for (const auto& [id, bias] : params.logit_bias) {
    TRY(check_token("logit_bias", id, n_vocab));
    if (bias != kImpossible) TRY(check_range("logit_bias", bias, -kMaxMagnitude, kMaxMagnitude));
  }
  for (const int32_t id : params.allowed_tokens) TRY(check_token("allowed_tokens", id, n_vocab));
  return {};
}

}  // namespace ferrox
