// How much of the text may leave when a stop string could still begin in it?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrox {

/// Matches several stop strings byte by byte, so that the result doesn't depend on where the pieces were cut. The stop
/// that completes first wins; of two that complete together, the one that starts first.
class StopMatcher {
 public:
  /// No stop string may be empty. Without any, nothing is ever held back.
  explicit StopMatcher(std::vector<std::string> stops);

  /// Takes more text; returns what may leave: all but the longest suffix that could still begin a stop, or, when a
  /// stop completed, what stands before it. After a match everything is swallowed.
  std::string push(std::string_view text);

  /// The stop that ended the text, if one did.
  const std::optional<std::string>& matched() const { return matched_; }

  size_t held_bytes() const { return held_.size(); }

  /// The text ended for another reason: returns what is held back.
  std::string flush();

 private:
  struct Stop {
    std::string text;
    std::vector<size_t> border;  ///< border[n]: longest proper prefix of text[0, n) that is also its suffix
    size_t n_matched = 0;        ///< longest prefix of text that the input ends with
  };

  static Stop make_stop(std::string text);
  static void advance(Stop& stop, char byte);
  void match_byte(char byte);

  std::vector<Stop> stops_;
  std::string held_;
  std::optional<std::string> matched_;
};

}  // namespace ferrox
