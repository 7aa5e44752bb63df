#include "kv/prefix_node.h"

#include <algorithm>

namespace ferrox {

int64_t common_length(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first - a.begin();
}

std::span<const int32_t> ByFirstPage::first_page(std::span<const int32_t> tokens) const {
  return tokens.first(std::min(tokens.size(), static_cast<size_t>(page_rows)));
}

bool ByFirstPage::operator()(std::span<const int32_t> a, std::span<const int32_t> b) const {
  return std::ranges::lexicographical_compare(first_page(a), first_page(b));
}

// In lexicographic order the longest common start is that of a neighbour.
PrefixNode* PrefixNode::nearest_child(std::span<const int32_t> rest) const {
  PrefixNode* nearest = nullptr;
  int64_t n_nearest = 0;
  const auto consider = [&](PrefixNode* child) {
    const int64_t n = common_length(children.key_comp().first_page(child->tokens), rest);
    if (n <= n_nearest) return;
    nearest = child;
    n_nearest = n;
  };
  const auto next = children.lower_bound(rest);
  if (next != children.end()) consider(*next);
  if (next != children.begin()) consider(*std::prev(next));
  return nearest;
}

}  // namespace ferrox
