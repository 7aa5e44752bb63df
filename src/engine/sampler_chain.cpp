#include "engine/sampler_chain.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ferrox {
namespace {

/// Allowed ids as Candidates wants them: ascending, each once.
void normalise(std::vector<int32_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

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
  const bool changed = apply_processors(logits, n_generated);
  Candidates candidates =
      params_.allowed_tokens.empty() ? Candidates(logits) : Candidates(logits, params_.allowed_tokens);
  const bool none_left = candidates.dense() ? changed && logits[static_cast<size_t>(argmax(logits))] == kImpossible
                                            : candidates.list().empty();
  if (none_left) return make_error(ErrorCode::kInvalidArgument, "sampling: bias and bans leave no token to choose");
  TokenRng rng(params_.seed, n_generated);
  Choice choice = choose(candidates, tokens, rng);
  if (wants_model_logprobs) choice.logprobs = row_logprobs(model_row_, choice.id, params_.n_logprobs);
  return choice;
}

bool SamplerChain::apply_processors(std::span<float> logits, int64_t n_generated) const {
  for (const auto& [id, bias] : params_.logit_bias) logits[static_cast<size_t>(id)] += bias;
  const bool may_end = n_generated >= params_.min_tokens;
  if (!may_end) {
    for (const int32_t id : end_tokens_) logits[static_cast<size_t>(id)] = kImpossible;
  }
  return !may_end || !params_.logit_bias.empty();
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
