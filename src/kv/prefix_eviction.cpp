// Which cached pages give way, in which order, and what is remembered of them?
#include <algorithm>

#include "base/check.h"
#include "kv/kv_layout.h"
#include "kv/prefix_tree.h"

namespace ferrox {
namespace {

constexpr size_t kMostRemembered = 4096;  ///< evicted starts: enough to tell why, in 100 KB

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace

uint64_t PrefixTree::hash_of(std::string_view space, std::span<const int32_t> tokens) {
  uint64_t hash = std::hash<std::string_view>{}(space);
  for (const int32_t token : tokens) hash = mix(hash, static_cast<uint64_t>(token));
  return hash;
}

/// What is about to be evicted of a node begins after n_tokens of it.
void PrefixTree::remember_evicted(const PrefixNode& node, int64_t n_tokens) {
  std::vector<int32_t> tokens(static_cast<size_t>(node.start + std::min(node.n_tokens(), n_tokens + page_rows_)));
  if (tokens.size() % static_cast<size_t>(page_rows_) != 0) return;
  const PrefixNode* each = &node;
  for (; !each->is_root(); each = each->parent) {
    const size_t n = std::min(each->tokens.size(), tokens.size() - static_cast<size_t>(each->start));
    std::copy_n(each->tokens.begin(), n, tokens.begin() + each->start);
  }
  const auto root = std::ranges::find_if(roots_, [&](const auto& entry) { return entry.second.get() == each; });
  evicted_.push_back(hash_of(root->first, tokens));
  was_evicted_.insert(evicted_.back());
  if (evicted_.size() <= kMostRemembered) return;
  was_evicted_.erase(was_evicted_.find(evicted_.front()));
  evicted_.pop_front();
}

/// Takes a leaf without tokens, or all of whose pages are to go, out of the tree; its parent may become a leaf.
void PrefixTree::remove_leaf(PrefixNode& node) {
  PrefixNode& parent = *node.parent;
  unindex(node);
  unindex(parent);
  parent.children.erase(&node);
  delete &node;
  --n_nodes_;
  if (!parent.is_root()) index(parent);
  if (parent.is_root() && parent.children.empty()) {
    std::erase_if(roots_, [&](const auto& entry) { return entry.second.get() == &parent; });
  }
}

/// Forgets a leaf's last page with all that is kept of it; true when the leaf is gone with it.
bool PrefixTree::drop_last_page(PrefixNode& node) {
  unindex(node);
  const size_t last = static_cast<size_t>(kv_pages_for(node.n_tokens(), page_rows_)) - 1;
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    drop(node, kind, last);
    node.pages[kind].pop_back();
  }
  if (node.hashes.size() > last) {
    removed_.push_back(node.hashes.back());
    node.hashes.pop_back();
  }
  const int64_t n_left = static_cast<int64_t>(last) * page_rows_;
  while (!node.states.empty() && node.states.back().position > node.start + n_left) {
    drop_state(node, node.states.size() - 1);
  }
  n_tokens_ -= static_cast<uint64_t>(node.n_tokens() - n_left);
  if (n_left == 0) {
    remove_leaf(node);
    return true;
  }
  node.tokens.resize(static_cast<size_t>(n_left));
  index(node);
  return false;
}

/// Without full attention nothing but windows and states makes a page worth its tokens.
void PrefixTree::trim(PrefixNode* leaf) {
  const auto is_worthless = [&](const PrefixNode& node) {
    const int64_t last = kv_pages_for(node.n_tokens(), page_rows_) - 1;
    if (!node.states.empty() && node.states.back().position > node.start + last * page_rows_) return false;
    return std::ranges::all_of(node.pages, [&](const auto& pages) { return pages.back() == kNoPage; });
  };
  while (leaf->is_leaf() && is_worthless(*leaf)) {
    PrefixNode* parent = leaf->parent;
    const bool is_last = parent->is_root() && parent->children.size() == 1;
    if (!drop_last_page(*leaf)) continue;
    if (is_last) return;  // its root went with it
    leaf = parent;
  }
}

void PrefixTree::evict(int kind, int64_t n) {
  const auto k = static_cast<size_t>(kind);
  CHECK(n >= 0 && n <= pool(k).n_idle(), "only what nobody holds is evicted");
  n_evicted_[k] += static_cast<uint64_t>(n);
  evict_pages(k, n);
  tell_removed();
}

void PrefixTree::evict_pages(size_t kind, int64_t n) {
  if (kind == n_kinds_) return evict_states(n);
  return is_full(kind) ? evict_full(kind, n) : evict_window(kind, n);
}

void PrefixTree::evict_full(size_t kind, int64_t n) {
  const auto is_idle = [&](const PrefixNode& node) { return pool(kind).n_holders(node.pages[kind].back()) == 1; };
  while (n > 0) {
    const auto oldest = std::ranges::find_if(leaves_, [&](const Use& use) { return is_idle(*use.node); });
    CHECK(oldest != leaves_.end(), "idle pages reach to the leaves");
    PrefixNode& node = *oldest->node;
    int64_t n_pages = static_cast<int64_t>(node.pages[kind].size());
    int64_t n_left = n_pages;
    while (n_left > 0 && n_pages - n_left < n &&
           pool(kind).n_holders(node.pages[kind][static_cast<size_t>(n_left - 1)]) == 1) {
      --n_left;
    }
    remember_evicted(node, n_left * page_rows_);
    for (; n_pages > n_left; --n_pages, --n) drop_last_page(node);
  }
}

void PrefixTree::evict_window(size_t kind, int64_t n) {
  const auto is_idle = [&](int32_t page) { return page != kNoPage && pool(kind).n_holders(page) == 1; };
  for (auto next = live_[kind].begin(); n > 0;) {
    CHECK(next != live_[kind].end(), "idle pages are somewhere");
    PrefixNode& node = *next->node;
    ++next;
    if (std::ranges::none_of(node.pages[kind], is_idle)) continue;
    unindex(node);
    for (size_t i = 0; i < node.pages[kind].size() && n > 0; ++i) {
      if (!is_idle(node.pages[kind][i])) continue;
      drop(node, kind, i);
      --n;
    }
    index(node);
    if (!has_full_) trim(&node);
    next = live_[kind].begin();
  }
}

void PrefixTree::evict_states(int64_t n) {
  const auto is_idle = [&](const StateSnapshot& state) { return state_pool().n_holders(state.page) == 1; };
  for (; n > 0; --n) {
    const auto oldest = std::ranges::find_if(
        with_states_, [&](const Use& use) { return std::ranges::any_of(use.node->states, is_idle); });
    CHECK(oldest != with_states_.end(), "idle snapshots are somewhere");
    PrefixNode& node = *oldest->node;
    unindex(node);
    drop_state(node, static_cast<size_t>(std::ranges::find_if(node.states, is_idle) - node.states.begin()));
    index(node);
    if (!has_full_) trim(&node);
  }
}

void PrefixTree::clear() {
  const bool had_nodes = n_nodes_ > 0;
  for (size_t kind = 0; kind < terms_->windows.size(); ++kind) evict_pages(kind, pool(kind).n_idle());
  evicted_.clear();
  was_evicted_.clear();
  if (observer_ == nullptr || n_nodes_ > 0) return tell_removed();
  removed_.clear();
  if (had_nodes) observer_->cleared();
}

}  // namespace ferrox
