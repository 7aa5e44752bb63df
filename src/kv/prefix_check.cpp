// Which rules does a prefix tree keep after every operation?
#include <algorithm>

#include "base/check.h"
#include "kv/kv_layout.h"
#include "kv/prefix_tree.h"

namespace ferrox {

void PrefixTree::check_node(const std::string& space, const PrefixNode& node,
                            std::vector<std::unordered_set<int32_t>>& seen) const {
  const Use use = use_of(node);
  CHECK(node.is_root() == node.tokens.empty(), "a node has tokens, a root has none");
  CHECK(node.start % page_rows_ == 0, "a node begins with a page");
  const size_t n_hashes = observer_ == nullptr ? 0
                          : node.is_root()     ? 1
                                               : node.tokens.size() / static_cast<size_t>(page_rows_);
  CHECK(node.hashes.size() == n_hashes, "whole pages have hashes while the tree is observed");
  for (const uint64_t pin : node.pins) {
    CHECK(node.parent->is_root() || std::ranges::find(node.parent->pins, pin) != node.parent->pins.end(),
          "a pin holds from the root on");
    CHECK(node.end() % page_rows_ == 0, "a pin holds whole pages");
  }
  CHECK(node.children.empty() || node.end() % page_rows_ == 0, "a part-full page ends a leaf");
  CHECK(leaves_.contains(use) == node.is_leaf(), "leaves are in their order");
  CHECK(with_states_.contains(use) == !node.states.empty(), "snapshots are in their order");
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    const auto& pages = node.pages[kind];
    CHECK(static_cast<int64_t>(pages.size()) == kv_pages_for(node.n_tokens(), page_rows_), "a place for each page");
    int64_t n_live = 0;
    for (const int32_t page : pages) {
      CHECK(page != kNoPage || !is_full(kind), "full pages are all there");
      if (page == kNoPage) continue;
      ++n_live;
      CHECK(pool(kind).is_kept(page) && seen[kind].insert(page).second, "a page is kept in one place");
    }
    CHECK(n_live == node.n_live[kind], "live pages are counted");
    CHECK(is_full(kind) || live_[kind].contains(use) == (n_live > 0), "live windows are in their order");
  }
  int64_t last = node.start;
  for (const StateSnapshot& state : node.states) {
    CHECK(state.position > last && state.position <= node.end(), "snapshots lie in their node, in order");
    last = state.position;
    CHECK(state_pool().is_kept(state.page) && seen[n_kinds_].insert(state.page).second, "a snapshot has its page");
  }
  for (const PrefixNode* child : node.children) {
    CHECK(child->parent == &node && child->start == node.end(), "a child follows its parent");
    CHECK(node.nearest_child(child->tokens) == child, "a child is found by its tokens");
  }
  CHECK(find_root(space) != nullptr, "a node lies below a root");
}

void PrefixTree::check_integrity() const {
  std::vector<std::unordered_set<int32_t>> seen(n_kinds_ + 1);
  uint64_t n_nodes = 0;
  uint64_t n_tokens = 0;
  size_t n_leaves = 0;
  each_node([&](const std::string& space, const PrefixNode& node) {
    check_node(space, node, seen);
    n_nodes += !node.is_root();
    n_leaves += node.is_leaf();
    n_tokens += node.tokens.size();
  });
  CHECK(n_nodes == n_nodes_ && n_tokens == n_tokens_ && n_leaves == leaves_.size(), "nodes and tokens are counted");
  for (size_t kind = 0; kind < terms_->windows.size(); ++kind) {
    CHECK(static_cast<int32_t>(seen[kind].size()) == pool(kind).n_kept(), "what is kept has a place");
  }
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    if (!is_full(kind)) continue;
    each_node([&](const std::string&, const PrefixNode& node) {
      bool has_idle = false;
      for (const int32_t page : node.pages[kind]) {
        has_idle |= pool(kind).n_holders(page) == 1;
        CHECK(!has_idle || pool(kind).n_holders(page) == 1, "idle pages reach to the leaves");
      }
    });
  }
}

}  // namespace ferrox
