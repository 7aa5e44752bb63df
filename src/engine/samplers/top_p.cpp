// Top-p (nucleus): the most likely tokens stay until their probabilities reach p.
#include "engine/samplers/samplers.h"

namespace ferrox {

void sample_top_p(Candidates& candidates, float p, int32_t min_keep) {
  if (p >= 1.0f || candidates.list().empty()) return;
  candidates.sort();
  candidates.softmax();
  std::vector<Candidate>& list = candidates.list();
  double sum = 0.0;
  for (size_t i = 0; i < list.size(); ++i) {
    sum += list[i].p;
    if (sum < static_cast<double>(p) || static_cast<int64_t>(i) + 1 < min_keep) continue;
    list.resize(i + 1);
    return;
  }
}

}  // namespace ferrox
