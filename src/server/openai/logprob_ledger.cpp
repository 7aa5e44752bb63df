// How are held tokens matched with released text?
#include "server/openai/logprob_ledger.h"

#include <algorithm>
#include <limits>

namespace ferrox {

std::vector<ScoredToken> LogprobLedger::push(const TokenEvent& token) {
  held_.push_back({token, sampled_bytes_, sampled_characters_});
  const std::string_view bytes = tokenizer_.token_bytes(token.id, SpecialText::kHide);
  sampled_bytes_ += bytes.size();
  sampled_characters_ += count_characters(bytes);
  released_bytes_ += token.text.size();
  return release(released_bytes_);
}

std::vector<ScoredToken> LogprobLedger::finish(const DoneEvent& done) {
  released_bytes_ += done.text.size();
  return release(done.matched_stop ? released_bytes_ : std::numeric_limits<size_t>::max());
}

/// Tokens that begin before `n_bytes`.
std::vector<ScoredToken> LogprobLedger::release(size_t n_bytes) {
  std::vector<ScoredToken> released;
  while (!held_.empty() && held_.front().byte_offset < n_bytes) {
    released.push_back(std::move(held_.front()));
    held_.pop_front();
  }
  return released;
}

size_t count_characters(std::string_view bytes) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<size_t>(std::count_if(bytes.begin(), bytes.end(), begins));
}

}  // namespace ferrox
