// One edge of the prefix tree: the tokens between two places where cached sequences part, and what is kept of them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace ferrox {

/// No page of a kind is kept for these positions.
inline constexpr int32_t kNoPage = -1;

/// The order of siblings: by the tokens of their first page, of which no two begin alike for a whole page.
struct ByFirstPage {
  using is_transparent = void;
  int32_t page_rows;

  std::span<const int32_t> first_page(std::span<const int32_t> tokens) const;
  bool operator()(std::span<const int32_t> a, std::span<const int32_t> b) const;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return (*this)(tokens_of(a), tokens_of(b));
  }

 private:
  static std::span<const int32_t> tokens_of(std::span<const int32_t> tokens) { return tokens; }
  template <class NodePointer>
  static std::span<const int32_t> tokens_of(const NodePointer& node) {
    return node->tokens;
  }
};

/// A copy of the recurrent state after `position` tokens of the sequence.
struct StateSnapshot {
  int64_t position;
  int32_t page;  ///< of the state kind
};

/// Tokens [start, end) of every sequence that goes through here, and their pages. Only the last page of a leaf may be
/// part full.
struct PrefixNode {
  PrefixNode(PrefixNode* above, size_t n_kinds, int32_t page_rows)
      : parent(above),
        start(above == nullptr ? 0 : above->end()),
        pages(n_kinds),
        n_live(n_kinds, 0),
        children(ByFirstPage{page_rows}) {}

  PrefixNode* parent;                       ///< nullptr: the root of a namespace
  int64_t start;                            ///< position of the first token, a whole number of pages
  std::vector<int32_t> tokens;              ///< empty in a root alone
  std::vector<std::vector<int32_t>> pages;  ///< [attention kind][page]; kNoPage: not kept
  std::vector<int64_t> n_live;              ///< pages of each attention kind that are kept
  std::vector<StateSnapshot> states;        ///< by position, which lies in (start, end]
  std::vector<uint64_t> hashes;             ///< while the tree is observed: of each whole page; a root's own one
  std::set<PrefixNode*, ByFirstPage> children;
  std::vector<uint64_t> pins;  ///< ids of those that hold all of it
  uint64_t last_use = 0;

  bool is_root() const { return parent == nullptr; }
  bool is_leaf() const { return children.empty() && !is_root(); }
  int64_t n_tokens() const { return static_cast<int64_t>(tokens.size()); }
  int64_t end() const { return start + n_tokens(); }

  /// The child that has the longest start in common with `rest`, or nullptr when none begins with its first token.
  PrefixNode* nearest_child(std::span<const int32_t> rest) const;
};

/// Tokens that both begin with.
int64_t common_length(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace ferrox
