// XTC (exclude top choices): now and then, of the tokens that are likely enough only the least likely stays.
#include "engine/samplers/samplers.h"

namespace ferrox {

void sample_xtc(Candidates& candidates, float probability, float threshold, int32_t min_keep, TokenRng& rng) {
  if (probability <= 0.0f || threshold > 0.5f || candidates.list().size() < 2) return;
  if (rng.uniform() > static_cast<double>(probability)) return;
  candidates.sort();
  candidates.softmax();
  std::vector<Candidate>& list = candidates.list();
  size_t n_likely = 0;
  while (n_likely < list.size() && list[n_likely].p >= threshold) ++n_likely;
  if (n_likely < 2) return;
  const size_t n_removed = n_likely - 1;
  if (static_cast<int64_t>(list.size() - n_removed) < min_keep) return;
  list.erase(list.begin(), list.begin() + static_cast<ptrdiff_t>(n_removed));
}

}  // namespace ferrox
