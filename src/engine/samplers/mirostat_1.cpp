// Mirostat 1: keeps the surprise of the text near tau, with a k estimated from the slope of the distribution.
#include <algorithm>
#include <cmath>

#include "engine/samplers/samplers.h"

namespace ferrox {
namespace {

constexpr size_t kEstimateTokens = 100;  // the paper's m: tokens that the slope is fitted to

/// Least-squares Zipf exponent of the most likely tokens; the list is sorted and has p.
float zipf_exponent(const std::vector<Candidate>& list) {
  float products = 0.0f;
  float squares = 0.0f;
  for (size_t i = 0; i + 1 < std::min(kEstimateTokens, list.size()); ++i) {
    const float t = std::log(static_cast<float>(i + 2) / static_cast<float>(i + 1));
    products += t * std::log(list[i].p / list[i + 1].p);
    squares += t * t;
  }
  return products / squares;
}

}  // namespace

Candidate sample_mirostat_1(Candidates& candidates, int32_t n_vocab, MirostatState& state, TokenRng& rng) {
  candidates.sort_prefix(kEstimateTokens);
  candidates.softmax();
  const float s = zipf_exponent(candidates.list());
  const float epsilon = s - 1.0f;
  const float k =
      std::pow(epsilon * std::pow(2.0f, state.mu) / (1.0f - std::pow(static_cast<float>(n_vocab), -epsilon)), 1.0f / s);
  // A flat or a single-token distribution has no slope: then nothing is cut.
  if (std::isfinite(k) && k < static_cast<float>(n_vocab)) candidates.keep_top(std::max(1, static_cast<int32_t>(k)));
  const Candidate drawn = draw(candidates, rng);
  state.mu -= state.eta * (-std::log2(drawn.p) - state.tau);
  return drawn;
}

}  // namespace ferrox
