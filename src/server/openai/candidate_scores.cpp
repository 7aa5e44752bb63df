// How are candidates ranked?
#include "server/openai/candidate_scores.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace ferrox {

void CandidateScores::add(size_t candidate, const TokenEvent& token) {
  if (!token.logprob) return;
  sums_[candidate] += static_cast<double>(token.logprob->logprob);
  ++n_tokens_[candidate];
}

std::vector<size_t> CandidateScores::best(size_t n_per_prompt, size_t n_told) const {
  std::vector<size_t> told;
  for (size_t first = 0; first < sums_.size(); first += n_per_prompt) {
    std::vector<size_t> candidates(n_per_prompt);
    std::iota(candidates.begin(), candidates.end(), first);
    if (n_told < n_per_prompt) {
      std::ranges::stable_sort(candidates, std::greater(), [this](size_t i) { return score(i); });
    }
    told.insert(told.end(), candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n_told));
  }
  return told;
}

double CandidateScores::score(size_t candidate) const {
  if (n_tokens_[candidate] == 0) return -std::numeric_limits<double>::infinity();
  return sums_[candidate] / static_cast<double>(n_tokens_[candidate]);
}

}  // namespace ferrox
