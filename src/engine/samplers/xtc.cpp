// XTC (exclude top choices): now and then, of the tokens that are likely enough only the least likely stays.
#include "engine/samplers/samplers.h"

namespace ferrox {

void sample_xtc(Candidates& candidates, float probability, float threshold, int32_t min_keep, TokenRng& rng) {
  if (probability <= 0.0f || threshold > 0.5f || candidates.list().size() < 2) return;
  if (rng.uniform() > static_cast<double>(probability)) return;
  // At most 1 / threshold tokens reach it; a threshold of nearly nothing is reached by all.
  const float max_likely = threshold > 0.0f ? 1.0f / threshold : 0.0f;
  const size_t n = candidates.list().size();
  candidates.sort_prefix(max_likely > 0.0f && max_likely < static_cast<float>(n) ? static_cast<size_t>(max_likely) + 2
                                                                                 : n);
  candidates.softmax();
  const std::vector<Candidate>& list = candidates.list();
  size_t n_likely = 0;
  while (n_likely < n && list[n_likely].p >= threshold) ++n_likely;
  if (n_likely < 2 || static_cast<int64_t>(n - n_likely + 1) < min_keep) return;
  candidates.drop_front(n_likely - 1);
}

}  // namespace ferrox
