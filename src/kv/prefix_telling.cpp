// What does the tree's observer hear?
#include <optional>
#include <span>

#include "base/check.h"
#include "kv/page_hash.h"
#include "kv/prefix_tree.h"

namespace ferrox {

void PrefixTree::observe(PrefixObserver& observer) {
  CHECK(n_nodes_ == 0, "an observer hears of every page from the first one on");
  observer_ = &observer;
}

/// Of the whole pages that a node has got since it was told of last.
void PrefixTree::tell_stored(std::string_view space, PrefixNode& node) {
  const size_t n_known = node.hashes.size();
  const auto page_rows = static_cast<size_t>(page_rows_);
  const size_t n_whole = node.tokens.size() / page_rows;
  if (n_whole == n_known) return;
  const auto tokens = std::span<const int32_t>(node.tokens).first(n_whole * page_rows).subspan(n_known * page_rows);
  const uint64_t before = n_known > 0 ? node.hashes.back() : node.parent->hashes.back();
  const bool is_first = n_known == 0 && node.start == 0;
  for (size_t i = n_known; i < n_whole; ++i) {
    const auto page = std::span<const int32_t>(node.tokens).subspan(i * page_rows, page_rows);
    node.hashes.push_back(page_hash(i == n_known ? before : node.hashes.back(), page));
  }
  observer_->stored({.space = space,
                     .parent = is_first ? std::nullopt : std::optional(before),
                     .hashes = std::span<const uint64_t>(node.hashes).subspan(n_known),
                     .tokens = tokens,
                     .page_rows = page_rows_});
}

void PrefixTree::tell_removed() {
  if (observer_ == nullptr || removed_.empty()) return;
  observer_->removed(removed_);
  removed_.clear();
}

}  // namespace ferrox
