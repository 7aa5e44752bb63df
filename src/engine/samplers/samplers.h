// What can a sampler do to the candidates? One function for each, each in a file of its own name.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>

#include "engine/samplers/candidates.h"
#include "engine/token_rng.h"

namespace ferrox {

// Common to all that cut: at least max(1, min_keep) candidates stay, and what a value means "off" for is off.

/// The k most likely. k <= 0: off. (Fan, Lewis, Dauphin 2018)
void sample_top_k(Candidates& candidates, int32_t k, int32_t min_keep);

/// The smallest set of most likely tokens whose probabilities reach p. p >= 1: off. (Holtzman et al. 2020)
void sample_top_p(Candidates& candidates, float p, int32_t min_keep);

/// Those at least p times as likely as the most likely one. p <= 0: off. (Nguyen et al. 2024)
void sample_min_p(Candidates& candidates, float p, int32_t min_keep);

/// The smallest set of tokens whose surprise is nearest to the entropy and whose probabilities exceed p.
/// p >= 1: off. (Meister et al. 2023)
void sample_typical(Candidates& candidates, float p, int32_t min_keep);

/// Those whose logit is within n standard deviations of the highest. n <= 0: off. (Tang et al. 2024)
void sample_top_n_sigma(Candidates& candidates, float n);

/// With the given probability removes all but the last of the tokens that reach the threshold. Off when the
/// probability is <= 0 or the threshold above one half. One draw when on. (p-e-w 2024)
void sample_xtc(Candidates& candidates, float probability, float threshold, int32_t min_keep, TokenRng& rng);

/// Divides the distances between logits by the temperature. <= 0: only the highest stays.
void apply_temperature(Candidates& candidates, float temperature);

/// The temperature goes from temperature - range (but >= 0) to temperature + range with the entropy, relative to that
/// of equal probabilities, raised to `exponent`. range <= 0: apply_temperature.
void apply_dynamic_temperature(Candidates& candidates, float temperature, float range, float exponent);

struct PenaltyParams {
  float repeat;     ///< divides positive logits and multiplies others; 1: off
  float frequency;  ///< subtracted once for each occurrence; 0: off
  float presence;   ///< subtracted once; 0: off
};

/// Penalises each token of `counts` (token -> occurrences in the penalty window). (Keskar et al. 2019; OpenAI)
void apply_penalties(Candidates& candidates, const std::unordered_map<int32_t, int32_t>& counts,
                     const PenaltyParams& params);

struct DryParams {
  float multiplier;
  float base;
  int32_t allowed_length;
};

/// Penalises tokens that would extend a repetition of the end of `context` by multiplier * base^(length - allowed).
/// A repetition reaches back at most max_repeat tokens: those after the last sequence breaker. Tokens that break a
/// sequence themselves are never penalised. multiplier 0 or base < 1: off. (p-e-w 2024)
void apply_dry(Candidates& candidates, std::span<const int32_t> context, int64_t max_repeat, const DryParams& params,
               const std::function<bool(int32_t)>& is_breaker);

/// Draws one candidate by probability; one draw. The list must not be empty.
Candidate draw(Candidates& candidates, TokenRng& rng);

/// Mirostat's running estimate: the surprise that is allowed next. (Basu et al. 2021)
struct MirostatState {
  float tau;
  float eta;
  float mu;  ///< starts at 2 * tau
};

/// Version 1: cuts at a k estimated from the distribution's Zipf exponent, draws, and updates the state.
Candidate sample_mirostat_1(Candidates& candidates, int32_t n_vocab, MirostatState& state, TokenRng& rng);

/// Version 2: cuts what would surprise more than mu, draws, and updates the state.
Candidate sample_mirostat_2(Candidates& candidates, MirostatState& state, TokenRng& rng);

}  // namespace ferrox
