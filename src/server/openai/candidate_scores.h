// Which of a prompt's candidates does an answer tell? Those whose tokens were most likely.
#pragma once

#include <cstddef>
#include <vector>

#include "server/event_mailbox.h"

namespace ferrox {

/// A candidate's score is the mean log-probability of its tokens; one without tokens comes last.
class CandidateScores {
 public:
  explicit CandidateScores(size_t n_candidates) : sums_(n_candidates), n_tokens_(n_candidates) {}

  /// Takes a token's log-probability into the score of its candidate.
  void add(size_t candidate, const TokenEvent& token);

  /// Of each n_per_prompt neighbours the n_told best, best first and equals in their order. All of them stay in their
  /// order where all are told.
  std::vector<size_t> best(size_t n_per_prompt, size_t n_told) const;

 private:
  double score(size_t candidate) const;

  std::vector<double> sums_;
  std::vector<size_t> n_tokens_;
};

}  // namespace ferrox
