// Min-p: tokens less likely than a share of the most likely one go.
#include <algorithm>
#include <cmath>

#include "engine/samplers/samplers.h"

namespace ferrox {

void sample_min_p(Candidates& candidates, float p, int32_t min_keep) {
  if (p <= 0.0f || candidates.list().empty()) return;
  const float bar = candidates.max_logit() + std::log(p);
  const std::vector<Candidate>& list = candidates.list();
  const auto reaches_bar = [bar](const Candidate& candidate) { return candidate.logit >= bar; };
  const auto n_reaching = std::count_if(list.begin(), list.end(), reaches_bar);
  if (n_reaching > 0 && n_reaching >= min_keep) {
    candidates.remove_if([&](const Candidate& candidate) { return !reaches_bar(candidate); });
  } else {
    candidates.keep_top(std::max(1, min_keep));
  }
}

}  // namespace ferrox
