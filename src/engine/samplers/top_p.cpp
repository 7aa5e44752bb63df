// Top-p (nucleus): the most likely tokens stay until their probabilities reach p.
#include <algorithm>

#include "engine/samplers/samplers.h"

namespace ferrox {
namespace {

constexpr size_t kFirstSorted = 256;  // enough for most rows, and sorted in no time
constexpr size_t kSortGrowth = 8;     // a flat row of 128 K tokens is sorted in four pieces

}  // namespace

void sample_top_p(Candidates& candidates, float p, int32_t min_keep) {
  if (p >= 1.0f || candidates.list().empty()) return;
  candidates.softmax();
  const std::vector<Candidate>& list = candidates.list();
  double sum = 0.0;
  size_t n_sorted = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i == n_sorted) candidates.sort_prefix(n_sorted = std::max(kFirstSorted, n_sorted * kSortGrowth));
    sum += list[i].p;
    if (sum < static_cast<double>(p) || static_cast<int64_t>(i) + 1 < min_keep) continue;
    return candidates.truncate(i + 1);
  }
}

}  // namespace ferrox
