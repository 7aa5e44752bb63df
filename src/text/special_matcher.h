// Where in a text do special tokens stand? Leftmost first, the longest there.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ferrox {

/// A trie of the texts that are matched before anything else is tokenized.
class SpecialMatcher {
 public:
  struct Match {
    int32_t id = -1;  ///< -1: none
    size_t start = 0;
    size_t length = 0;
  };

  /// Who may write a token: anyone, or only text that is trusted to hold control tokens.
  enum class Trust { kAnyText, kTrustedText };

  SpecialMatcher();

  /// Adds a text (an empty one is ignored); of equal texts the first stays.
  void add(std::string_view text, int32_t id, Trust trust);

  /// The first match in text[from, end). A token of Trust::kTrustedText must lie inside one of the runs where
  /// `trusted_end(position)` is past the position: it gives the end of the trusted run that holds it, or 0.
  template <class TrustedEnd>
  Match find(std::string_view text, size_t from, TrustedEnd trusted_end) const {
    for (size_t at = from; at < text.size(); ++at) {
      if (first_[static_cast<uint8_t>(text[at])] == 0) continue;
      const Match match = match_at(text, at, trusted_end(at));
      if (match.id >= 0) return match;
    }
    return {};
  }

 private:
  struct Node {
    int32_t id = -1;
    uint32_t first_child = 0;   // 0: none
    uint32_t next_sibling = 0;  // 0: none
    uint8_t byte = 0;           // that leads here from the parent
    Trust trust = Trust::kAnyText;
  };
  uint32_t append_node(uint32_t parent, uint8_t byte);
  Match match_at(std::string_view text, size_t at, size_t trusted_end) const;
  uint32_t child(uint32_t node, uint8_t byte) const;

  std::array<uint32_t, 256> first_{};  // node after one byte; 0: no text begins so
  std::vector<Node> nodes_;            // 0 is the parent of the first bytes, which first_ finds
};

}  // namespace ferrox
