// Top-n-sigma: tokens whose logit lies more than n standard deviations below the highest go.
#include <cmath>

#include "engine/samplers/samplers.h"

namespace ferrox {

void sample_top_n_sigma(Candidates& candidates, float n) {
  if (n <= 0.0f || candidates.list().size() <= 1) return;
  const std::vector<Candidate>& list = candidates.list();
  double sum = 0.0;
  for (const Candidate& candidate : list) sum += candidate.logit;
  const double mean = sum / static_cast<double>(list.size());
  double squares = 0.0;
  for (const Candidate& candidate : list) squares += (candidate.logit - mean) * (candidate.logit - mean);
  const double sigma = std::sqrt(squares / static_cast<double>(list.size()));
  const auto bar = static_cast<float>(candidates.max_logit() - static_cast<double>(n) * sigma);
  candidates.remove_if([bar](const Candidate& candidate) { return candidate.logit < bar; });
}

}  // namespace ferrox
