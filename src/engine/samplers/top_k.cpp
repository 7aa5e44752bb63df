// Top-k: only the k most likely tokens stay.
#include <algorithm>

#include "engine/samplers/samplers.h"

namespace ferrox {

void sample_top_k(Candidates& candidates, int32_t k, int32_t min_keep) {
  if (k <= 0) return;
  candidates.keep_top(std::max(k, min_keep));
}

}  // namespace ferrox
