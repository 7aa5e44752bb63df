// Mirostat 2: keeps the surprise of the text near tau by cutting what would surprise more than mu.
#include <cmath>

#include "engine/samplers/samplers.h"

namespace ferrox {

Candidate sample_mirostat_2(Candidates& candidates, MirostatState& state, TokenRng& rng) {
  candidates.sort_prefix(1);
  candidates.softmax();
  const int32_t best = candidates.list().front().id;  // stays, however surprising
  candidates.remove_if(
      [&](const Candidate& candidate) { return candidate.id != best && -std::log2(candidate.p) > state.mu; });
  const Candidate drawn = draw(candidates, rng);
  state.mu -= state.eta * (-std::log2(drawn.p) - state.tau);
  return drawn;
}

}  // namespace ferrox
