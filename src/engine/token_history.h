// What has been said so far, and how often lately? Prompt and answer, with what penalties and DRY ask of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/stop_matcher.h"

namespace ferrox {

/// Occurrences of each token among the last `window` ones.
class PenaltyWindow {
 public:
  /// window: 0 counts nothing, -1 everything.
  explicit PenaltyWindow(int32_t window) : window_(window) {}

  /// `tokens` has just got a new last element.
  void push(std::span<const int32_t> tokens);

  const std::unordered_map<int32_t, int32_t>& counts() const { return counts_; }

 private:
  int32_t window_;
  std::unordered_map<int32_t, int32_t> counts_;
};

/// How far back a repetition may reach before it meets a sequence breaker. Breakers are looked for in the text, byte by
/// byte, so one that spans tokens is found however it was cut.
class BreakerTracker {
 public:
  /// Empty breakers are ignored.
  explicit BreakerTracker(const std::vector<std::string>& breakers);

  /// The next token's bytes.
  void push(std::string_view bytes);

  /// Whether a whole breaker stands in `bytes`.
  bool is_in(std::string_view bytes) const;

  /// Tokens after the one in which a breaker last ended.
  int64_t tokens_since_breaker() const { return n_since_; }

 private:
  std::vector<std::string> breakers_;
  size_t longest_ = 0;
  std::string tail_;  ///< the last longest_ - 1 bytes
  int64_t n_since_ = 0;
};

}  // namespace ferrox
