// Temperature, fixed or following the entropy of what is left.
#include <algorithm>
#include <cmath>

#include "engine/samplers/samplers.h"

namespace ferrox {
namespace {

/// Entropy over that of equal probabilities: 0 (certain) to 1 (no idea). Needs p and two candidates.
float relative_entropy(const std::vector<Candidate>& list) {
  float entropy = 0.0f;
  for (const Candidate& candidate : list) {
    if (candidate.p > 0.0f) entropy -= candidate.p * std::log(candidate.p);
  }
  return entropy / std::log(static_cast<float>(list.size()));
}

/// Only the highest stays: the limit of a temperature that goes to zero.
void keep_highest(Candidates& candidates) { candidates.keep_top(1); }

}  // namespace

void apply_temperature(Candidates& candidates, float temperature) {
  if (temperature <= 0.0f) return keep_highest(candidates);
  if (candidates.list().empty()) return;
  // From the highest down, so that a tiny temperature sends the others to -infinity and nothing to +infinity.
  const float highest = candidates.max_logit();
  for (Candidate& candidate : candidates.list()) candidate.logit = (candidate.logit - highest) / temperature;
}

void apply_dynamic_temperature(Candidates& candidates, float temperature, float range, float exponent) {
  if (range <= 0.0f) return apply_temperature(candidates, temperature);
  if (candidates.list().size() <= 1) return;
  candidates.softmax();
  const float lowest = std::max(0.0f, temperature - range);
  const float highest = temperature + range;
  const float share = std::pow(relative_entropy(candidates.list()), exponent);
  apply_temperature(candidates, lowest + (highest - lowest) * share);
}

}  // namespace ferrox
