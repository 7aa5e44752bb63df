// Which tokens' log-probabilities belong to the text that was released so far?
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request.h"
#include "text/tokenizer.h"

namespace ferrox {

/// A token with its place in the answer's text.
struct ScoredToken {
  TokenEvent token;
  size_t byte_offset;       ///< bytes of text before it
  size_t character_offset;  ///< characters begun before it
};

/// Holds tokens back as long as their text is held back: a token whose text fell to a stop string is never told.
class LogprobLedger {
 public:
  explicit LogprobLedger(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Tokens that are released by this one, in order.
  std::vector<ScoredToken> push(const TokenEvent& token);

  /// The rest, after the last event.
  std::vector<ScoredToken> finish(const DoneEvent& done);

 private:
  std::vector<ScoredToken> release(size_t n_bytes);

  const Tokenizer& tokenizer_;
  std::deque<ScoredToken> held_;
  size_t sampled_bytes_ = 0;
  size_t sampled_characters_ = 0;
  size_t released_bytes_ = 0;
};

/// Characters that begin in `bytes`.
size_t count_characters(std::string_view bytes);

}  // namespace ferrox
