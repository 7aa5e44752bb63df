// The last step of every chain: one token by chance.
#include "engine/samplers/samplers.h"

namespace ferrox {

Candidate draw(Candidates& candidates, TokenRng& rng) {
  candidates.softmax();
  const std::vector<Candidate>& list = candidates.list();
  const double target = rng.uniform();
  double sum = 0.0;
  for (const Candidate& candidate : list) {
    sum += candidate.p;
    if (target < sum) return candidate;
  }
  // Rounding can leave the sum just below 1: then the last one that is possible at all.
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    if (it->p > 0.0f) return *it;
  }
  return list.back();
}

}  // namespace ferrox
