#include "engine/sampler_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ferrox {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();
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

/// Allowed ids as Candidates wants them: ascending, each once.
void normalise(std::vector<int32_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
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

SamplerChain::SamplerChain(const SamplingParams& params, int32_t n_vocab, std::vector<int32_t> end_tokens,
                           TokenBytes token_bytes)
    : params_(params),
      n_vocab_(n_vocab),
      end_tokens_(std::move(end_tokens)),
      token_bytes_(std::move(token_bytes)),
      penalty_window_(params.repeat_last_n),
      breakers_(params.dry_sequence_breakers),
      mirostat_{params.mirostat_tau, params.mirostat_eta, 2.0f * params.mirostat_tau} {
  normalise(params_.allowed_tokens);
}

void SamplerChain::accept(std::span<const int32_t> tokens) {
  penalty_window_.push(tokens);
  if (params_.dry_multiplier != 0.0f) breakers_.push(token_bytes_(tokens.back()));
}

Result<SamplerChain::Choice> SamplerChain::sample(std::span<float> logits, std::span<const int32_t> tokens,
                                                  int64_t n_generated) {
  const bool wants_model_logprobs = params_.n_logprobs >= 0 && !params_.post_sampling_logprobs;
  if (wants_model_logprobs) model_row_.assign(logits.begin(), logits.end());
  apply_processors(logits, n_generated);
  Candidates candidates =
      params_.allowed_tokens.empty() ? Candidates(logits) : Candidates(logits, params_.allowed_tokens);
  const bool none_left =
      candidates.dense() ? logits[static_cast<size_t>(argmax(logits))] == kImpossible : candidates.list().empty();
  if (none_left) return make_error(ErrorCode::kInvalidArgument, "sampling: bias and bans leave no token to choose");
  TokenRng rng(params_.seed, n_generated);
  Choice choice = choose(candidates, tokens, rng);
  if (wants_model_logprobs) choice.logprobs = row_logprobs(model_row_, choice.id, params_.n_logprobs);
  return choice;
}

void SamplerChain::apply_processors(std::span<float> logits, int64_t n_generated) const {
  for (const auto& [id, bias] : params_.logit_bias) logits[static_cast<size_t>(id)] += bias;
  if (n_generated >= params_.min_tokens) return;
  for (const int32_t id : end_tokens_) logits[static_cast<size_t>(id)] = kImpossible;
}

SamplerChain::Choice SamplerChain::choose(Candidates& candidates, std::span<const int32_t> tokens, TokenRng& rng) {
  apply_order(candidates, tokens, rng);
  const bool wants_final_logprobs = params_.n_logprobs >= 0 && params_.post_sampling_logprobs;
  Choice choice{};
  std::optional<Candidates> before_draw;
  if (wants_final_logprobs) before_draw = candidates;
  if (params_.temperature <= 0.0f) {
    choice.id = choose_greedily(candidates);
  } else if (params_.mirostat == 1) {
    choice.id = sample_mirostat_1(candidates, n_vocab_, mirostat_, rng).id;
  } else if (params_.mirostat == 2) {
    choice.id = sample_mirostat_2(candidates, mirostat_, rng).id;
  } else {
    choice.id = draw(candidates, rng).id;
  }
  if (before_draw) choice.logprobs = list_logprobs(std::move(*before_draw), choice.id, params_.n_logprobs);
  return choice;
}

void SamplerChain::apply_order(Candidates& candidates, std::span<const int32_t> tokens, TokenRng& rng) const {
  const bool only_penalties = params_.temperature <= 0.0f || params_.mirostat != 0;
  for (const SamplerKind kind : params_.order) {
    const bool is_penalty = kind == SamplerKind::kPenalties || kind == SamplerKind::kDry;
    if (is_penalty || !only_penalties) apply(kind, candidates, tokens, rng);
  }
  if (params_.mirostat != 0 && params_.temperature > 0.0f) apply_temperature(candidates, params_.temperature);
}

int32_t SamplerChain::choose_greedily(Candidates& candidates) const {
  if (candidates.dense()) return argmax(candidates.logits());
  candidates.keep_top(1);
  return candidates.list().front().id;
}

void SamplerChain::apply(SamplerKind kind, Candidates& candidates, std::span<const int32_t> tokens,
                         TokenRng& rng) const {
  const SamplingParams& p = params_;
  switch (kind) {
    case SamplerKind::kPenalties:
      return apply_penalties(candidates, penalty_window_.counts(),
                             {p.repeat_penalty, p.frequency_penalty, p.presence_penalty});
    case SamplerKind::kDry:
      return apply_dry_penalty(candidates, tokens);
    case SamplerKind::kTopNSigma:
      return sample_top_n_sigma(candidates, p.top_n_sigma);
    case SamplerKind::kTopK:
      return sample_top_k(candidates, p.top_k, p.min_keep);
    case SamplerKind::kTypical:
      return sample_typical(candidates, p.typical_p, p.min_keep);
    case SamplerKind::kTopP:
      return sample_top_p(candidates, p.top_p, p.min_keep);
    case SamplerKind::kMinP:
      return sample_min_p(candidates, p.min_p, p.min_keep);
    case SamplerKind::kXtc:
      return sample_xtc(candidates, p.xtc_probability, p.xtc_threshold, p.min_keep, rng);
    case SamplerKind::kTemperature:
      return apply_dynamic_temperature(candidates, p.temperature, p.dynatemp_range, p.dynatemp_exponent);
  }
}

void SamplerChain::apply_dry_penalty(Candidates& candidates, std::span<const int32_t> tokens) const {
  if (params_.dry_multiplier == 0.0f || params_.dry_penalty_last_n == 0) return;
  const size_t n_context = params_.dry_penalty_last_n < 0
                               ? tokens.size()
                               : std::min(tokens.size(), static_cast<size_t>(params_.dry_penalty_last_n));
  apply_dry(candidates, tokens.last(n_context), breakers_.tokens_since_breaker(),
            {params_.dry_multiplier, params_.dry_base, params_.dry_allowed_length},
            [this](int32_t id) { return breakers_.is_in(token_bytes_(id)); });
}

}  // namespace ferrox
