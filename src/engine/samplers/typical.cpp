// Locally typical: tokens whose surprise is nearest to the expected one stay until their probabilities exceed p.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/samplers/samplers.h"

namespace ferrox {
namespace {

float entropy(const std::vector<Candidate>& list) {
  float sum = 0.0f;
  for (const Candidate& candidate : list) {
    if (candidate.p > 0.0f) sum -= candidate.p * std::log(candidate.p);
  }
  return sum;
}

/// Indices into `list`, nearest to the typical surprise first.
std::vector<size_t> by_typicality(const std::vector<Candidate>& list) {
  const float typical = entropy(list);
  std::vector<float> distance;
  distance.reserve(list.size());
  for (const Candidate& candidate : list) distance.push_back(std::fabs(-std::log(candidate.p) - typical));
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return distance[a] < distance[b]; });
  return order;
}

}  // namespace

void sample_typical(Candidates& candidates, float p, int32_t min_keep) {
  if (p >= 1.0f || candidates.list().empty()) return;
  candidates.sort();
  candidates.softmax();
  std::vector<Candidate>& list = candidates.list();
  std::vector<size_t> kept;
  double sum = 0.0;
  for (const size_t i : by_typicality(list)) {
    kept.push_back(i);
    sum += list[i].p;
    if (sum > static_cast<double>(p) && static_cast<int64_t>(kept.size()) >= min_keep) break;
  }
  std::sort(kept.begin(), kept.end());  // rank order again
  for (size_t i = 0; i < kept.size(); ++i) list[i] = list[kept[i]];
  candidates.truncate(kept.size());
}

}  // namespace ferrox
