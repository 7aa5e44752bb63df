// Mirostat 2: keeps the surprise of the text near tau by cutting what would surprise more than mu.
#include <algorithm>
#include <cmath>

#include "engine/samplers/samplers.h"

namespace ferrox {

Candidate sample_mirostat_2(Candidates& candidates, MirostatState& state, TokenRng& rng) {
  candidates.sort();
  candidates.softmax();
  std::vector<Candidate>& list = candidates.list();
  const auto too_surprising = [&](const Candidate& candidate) { return -std::log2(candidate.p) > state.mu; };
  const auto cut = std::find_if(list.begin(), list.end(), too_surprising);
  list.erase(std::max(cut, list.begin() + 1), list.end());
  const Candidate drawn = draw(candidates, rng);
  state.mu -= state.eta * (-std::log2(drawn.p) - state.tau);
  return drawn;
}

}  // namespace ferrox
