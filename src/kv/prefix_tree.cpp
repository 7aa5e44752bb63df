#include "kv/prefix_tree.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "kv/kv_layout.h"

namespace ferrox {
namespace {

constexpr size_t kMostRemembered = 4096;  ///< evicted starts: enough to tell why, in 100 KB

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace

PrefixTree::PrefixTree(PageGroups& groups, const KvTerms& terms)
    : groups_(&groups),
      terms_(&terms),
      page_rows_(terms.page_rows),
      n_kinds_(terms.n_attention_kinds()),
      has_full_(std::find(terms.windows.begin(), terms.windows.end(), 0) != terms.windows.end()),
      has_state_(terms.has_state()),
      live_(n_kinds_),
      n_evicted_(terms.windows.size(), 0) {}

PrefixTree::~PrefixTree() { clear(); }

// ---- looking

const PrefixNode* PrefixTree::find_root(std::string_view space) const {
  const auto found = roots_.find(space);
  return found == roots_.end() ? nullptr : found->second.get();
}

PrefixNode& PrefixTree::root_of(std::string_view space) {
  const auto found = roots_.find(space);
  if (found != roots_.end()) return *found->second;
  auto root = std::make_unique<PrefixNode>(nullptr, n_kinds_, page_rows_);
  return *roots_.emplace(std::string(space), std::move(root)).first->second;
}

std::vector<PrefixTree::Step> PrefixTree::walk(std::string_view space, std::span<const int32_t> tokens) const {
  std::vector<Step> path;
  const PrefixNode* node = find_root(space);
  while (node != nullptr && !tokens.empty()) {
    PrefixNode* child = node->nearest_child(tokens);
    if (child == nullptr) break;
    const int64_t n = common_length(child->tokens, tokens);
    path.push_back({child, n});
    if (n < child->n_tokens()) break;
    tokens = tokens.subspan(static_cast<size_t>(n));
    node = child;
  }
  return path;
}

/// The pages of a kind for the first n_tokens of a path.
std::vector<int32_t> PrefixTree::pages_along(const std::vector<Step>& path, size_t kind, int64_t n_tokens) const {
  std::vector<int32_t> pages;
  pages.reserve(static_cast<size_t>(kv_pages_for(n_tokens, page_rows_)));
  for (const Step& step : path) {
    const int64_t n = kv_pages_for(std::min(step.n_matched, n_tokens - step.node->start), page_rows_);
    const auto& own = step.node->pages[kind];
    if (n > 0) pages.insert(pages.end(), own.begin(), own.begin() + static_cast<ptrdiff_t>(n));
  }
  return pages;
}

/// The most of n positions behind which a row of this window finds all that it reads.
int64_t PrefixTree::resumable(std::span<const int32_t> pages, int window, int64_t n) const {
  while (n > 0) {
    const int64_t first = std::max<int64_t>(0, n + 1 - window);  // row n itself is about to be computed
    if (first >= n) return n;
    int64_t i = (n - 1) / page_rows_;
    while (i >= first / page_rows_ && pages[static_cast<size_t>(i)] != kNoPage) --i;
    if (i < first / page_rows_) return n;
    n = i * page_rows_;
  }
  return 0;
}

/// The most of n positions with a snapshot after them.
int64_t PrefixTree::last_state(const std::vector<Step>& path, int64_t n, int32_t& page) {
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    const int64_t reached = std::min(n, step->node->start + step->n_matched);
    const auto& states = step->node->states;
    for (auto state = states.rbegin(); state != states.rend(); ++state) {
      if (state->position > reached) continue;
      page = state->page;
      return state->position;
    }
  }
  page = kNoPage;
  return 0;
}

PrefixMatch PrefixTree::usable_along(const std::vector<Step>& path, int64_t limit) const {
  PrefixMatch match;
  match.pages.resize(n_kinds_);
  if (!path.empty()) match.n_common = path.back().node->start + path.back().n_matched;
  int64_t n = std::min(match.n_common, limit);
  for (size_t kind = 0; kind < n_kinds_; ++kind) match.pages[kind] = pages_along(path, kind, n);
  for (int64_t before = -1; before != n;) {
    before = n;
    for (size_t kind = 0; kind < n_kinds_; ++kind) {
      if (!is_full(kind)) n = resumable(match.pages[kind], terms_->windows[kind], n);
    }
    if (has_state_) n = last_state(path, n, match.state);
  }
  match.n_usable = n;
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    auto& pages = match.pages[kind];
    pages.resize(static_cast<size_t>(kv_pages_for(n, page_rows_)));
    if (is_full(kind)) continue;
    const int64_t first = std::min(n, std::max<int64_t>(0, n + 1 - terms_->windows[kind]));
    const int64_t n_stale = first == n ? static_cast<int64_t>(pages.size()) : first / page_rows_;
    std::fill_n(pages.begin(), n_stale, kNoPage);
  }
  return match;
}

/// Siblings that part from the tokens within the page in which a node of the path begins: one of them may have the
/// window or the state that the path lacks. From the deepest node up, as many as are worth the time.
std::vector<std::vector<PrefixTree::Step>> PrefixTree::side_paths(const std::vector<Step>& path,
                                                                  std::span<const int32_t> tokens) const {
  constexpr size_t kMost = 32;
  std::vector<std::vector<Step>> found;
  for (size_t level = path.size(); level > 0; --level) {
    const PrefixNode& node = *path[level - 1].node;
    const auto& siblings = node.parent->children;
    const auto rest = tokens.subspan(static_cast<size_t>(node.start));
    const auto add = [&](PrefixNode* sibling) {
      const int64_t n = common_length(sibling->tokens, rest);
      if (n == 0 || found.size() >= kMost) return false;
      found.emplace_back(path.begin(), path.begin() + static_cast<ptrdiff_t>(level) - 1).push_back({sibling, n});
      return true;
    };
    const auto self = siblings.find(path[level - 1].node);
    for (auto next = std::next(self); next != siblings.end() && add(*next);) ++next;
    for (auto last = self; last != siblings.begin() && add(*std::prev(last));) --last;
  }
  return found;
}

PrefixMatch PrefixTree::match(std::string_view space, std::span<const int32_t> tokens, int64_t limit) const {
  const std::vector<Step> path = walk(space, tokens);
  PrefixMatch best = usable_along(path, limit);
  const int64_t n_common = best.n_common;
  if (best.n_usable < std::min(n_common, limit)) {
    for (const std::vector<Step>& side : side_paths(path, tokens)) {
      PrefixMatch other = usable_along(side, limit);
      if (other.n_usable > best.n_usable) best = std::move(other);
    }
    best.n_common = n_common;
  }
  if (n_common < limit && !was_evicted_.empty()) {
    const auto next_page = static_cast<size_t>((n_common / page_rows_ + 1) * page_rows_);
    best.was_evicted = next_page <= tokens.size() && was_evicted_.contains(hash_of(space, tokens.first(next_page)));
  }
  return best;
}

bool PrefixTree::has_state(std::string_view space, std::span<const int32_t> tokens) const {
  const auto n = static_cast<int64_t>(tokens.size());
  int32_t page = kNoPage;
  return n > 0 && last_state(walk(space, tokens), n, page) == n;
}

// ---- orders of eviction

void PrefixTree::index(PrefixNode& node) {
  const Use use{node.last_use, node.start, &node};
  if (node.is_leaf()) leaves_.insert(use);
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    if (!is_full(kind) && node.n_live[kind] > 0) live_[kind].insert(use);
  }
  if (!node.states.empty()) with_states_.insert(use);
}

void PrefixTree::unindex(PrefixNode& node) {
  const Use use{node.last_use, node.start, &node};
  leaves_.erase(use);
  for (std::set<Use>& uses : live_) uses.erase(use);
  with_states_.erase(use);
}

void PrefixTree::use(PrefixNode& node) {
  unindex(node);
  node.last_use = clock_;
  index(node);
}

void PrefixTree::touch(std::string_view space, std::span<const int32_t> tokens, int64_t n) {
  ++clock_;
  for (const Step& step : walk(space, tokens)) {
    if (step.node->start < n) use(*step.node);
  }
}

// ---- keeping: nodes are out of the orders while they change

void PrefixTree::keep(PrefixNode& node, size_t kind, size_t i, int32_t page) {
  pool(kind).keep(page);
  node.pages[kind][i] = page;
  ++node.n_live[kind];
}

void PrefixTree::drop(PrefixNode& node, size_t kind, size_t i) {
  int32_t& page = node.pages[kind][i];
  if (page == kNoPage) return;
  pool(kind).drop(page);
  page = kNoPage;
  --node.n_live[kind];
}

void PrefixTree::drop_state(PrefixNode& node, size_t i) {
  state_pool().drop(node.states[i].page);
  node.states.erase(node.states.begin() + static_cast<ptrdiff_t>(i));
}

PrefixNode& PrefixTree::add_child(PrefixNode& parent) {
  auto* child = new PrefixNode(&parent, n_kinds_, page_rows_);
  child->last_use = clock_;
  ++n_nodes_;
  return *child;
}

/// The first n_tokens of a node, whole pages, become a node above it.
PrefixNode& PrefixTree::split(PrefixNode& node, int64_t n_tokens) {
  PrefixNode& parent = *node.parent;
  unindex(node);
  parent.children.erase(&node);
  PrefixNode& prefix = add_child(parent);
  prefix.last_use = node.last_use;
  const auto cut = static_cast<ptrdiff_t>(n_tokens);
  const auto page_cut = static_cast<ptrdiff_t>(n_tokens / page_rows_);
  prefix.tokens.assign(node.tokens.begin(), node.tokens.begin() + cut);
  node.tokens.erase(node.tokens.begin(), node.tokens.begin() + cut);
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    auto& pages = node.pages[kind];
    prefix.pages[kind].assign(pages.begin(), pages.begin() + page_cut);
    pages.erase(pages.begin(), pages.begin() + page_cut);
    prefix.n_live[kind] = std::ranges::count_if(prefix.pages[kind], [](int32_t page) { return page != kNoPage; });
    node.n_live[kind] -= prefix.n_live[kind];
  }
  node.start += n_tokens;
  const auto first_after =
      std::ranges::find_if(node.states, [&](const StateSnapshot& state) { return state.position > node.start; });
  prefix.states.assign(node.states.begin(), first_after);
  node.states.erase(node.states.begin(), first_after);
  parent.children.insert(&prefix);
  node.parent = &prefix;
  prefix.children.insert(&node);
  index(prefix);
  index(node);
  return prefix;
}

/// The first n_tokens of a node are the caller's next ones: whole pages that it lacks are kept, others are duplicates.
void PrefixTree::meet(PrefixNode& node, int64_t n_tokens, std::span<const std::vector<int32_t>> pages,
                      Insertion& done) {
  unindex(node);
  const auto first = static_cast<size_t>(node.start / page_rows_);
  const auto n_whole = static_cast<size_t>(n_tokens / page_rows_);
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    for (size_t i = 0; i < n_whole; ++i) {
      const int32_t offered = pages[kind][first + i];
      const int32_t there = node.pages[kind][i];
      if (is_full(kind) && there != offered) done.duplicates.push_back({static_cast<int64_t>(first + i), there});
      if (there != kNoPage || offered == kNoPage) continue;
      keep(node, kind, i, offered);
      ++done.n_taken[kind];
    }
  }
  node.last_use = clock_;
  index(node);
  done.n_known += n_tokens;
}

/// Adds the caller's last tokens to a leaf, whose last page, when it is part full, gives way to the caller's.
void PrefixTree::append(PrefixNode& node, std::span<const int32_t> tokens, std::span<const std::vector<int32_t>> pages,
                        Insertion& done) {
  unindex(node);
  const auto n_whole = static_cast<size_t>(node.n_tokens() / page_rows_);
  const auto first = static_cast<size_t>(node.start / page_rows_);
  n_tokens_ += tokens.size();
  node.tokens.insert(node.tokens.end(), tokens.begin(), tokens.end());
  const auto n_pages = static_cast<size_t>(kv_pages_for(node.n_tokens(), page_rows_));
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    node.pages[kind].resize(n_pages, kNoPage);
    for (size_t i = n_whole; i < n_pages; ++i) {
      const int32_t offered = pages[kind][first + i];
      if (offered == node.pages[kind][i]) continue;
      drop(node, kind, i);
      if (offered == kNoPage) continue;
      keep(node, kind, i, offered);
      ++done.n_taken[kind];
    }
  }
  node.last_use = clock_;
  index(node);
}

PrefixTree::Insertion PrefixTree::insert(std::string_view space, std::span<const int32_t> tokens,
                                         std::span<const std::vector<int32_t>> pages, int32_t state) {
  CHECK(!tokens.empty() && pages.size() == n_kinds_, "there is something to keep");
  ++clock_;
  Insertion done;
  done.n_taken.assign(n_kinds_, 0);
  PrefixNode& last = insert_rows(space, tokens, pages, done);
  if (state != kNoPage) done.took_state = insert_state(last, static_cast<int64_t>(tokens.size()), state);
  if (!has_full_) trim(&last);
  return done;
}

/// The node in which the tokens end.
PrefixNode& PrefixTree::insert_rows(std::string_view space, std::span<const int32_t> tokens,
                                    std::span<const std::vector<int32_t>> pages, Insertion& done) {
  PrefixNode* node = &root_of(space);
  for (std::span<const int32_t> rest = tokens; !rest.empty();) {
    PrefixNode* child = node->nearest_child(rest);
    const int64_t n = child == nullptr ? 0 : common_length(child->tokens, rest);
    const int64_t n_whole = n / page_rows_ * page_rows_;
    if (child != nullptr && (n == static_cast<int64_t>(rest.size()) || n == child->n_tokens())) {
      meet(*child, n, pages, done);
      rest = rest.subspan(static_cast<size_t>(n));
      node = child;
      if (rest.empty() || n == n_whole) continue;
      append(*child, rest, pages, done);
      break;
    }
    if (n_whole > 0) {
      node = &split(*child, n_whole);
      meet(*node, n_whole, pages, done);
      rest = rest.subspan(static_cast<size_t>(n_whole));
      continue;
    }
    if (!node->is_leaf()) {
      PrefixNode& leaf = add_child(*node);
      unindex(*node);
      append(leaf, rest, pages, done);
      node->children.insert(&leaf);
      index(*node);
      node = &leaf;
    } else {
      append(*node, rest, pages, done);
    }
    break;
  }
  return *node;
}

/// False when there is a snapshot already.
bool PrefixTree::insert_state(PrefixNode& node, int64_t position, int32_t page) {
  const auto at = std::ranges::lower_bound(node.states, position, {}, &StateSnapshot::position);
  if (at != node.states.end() && at->position == position) return false;
  unindex(node);
  state_pool().keep(page);
  node.states.insert(at, {position, page});
  index(node);
  return true;
}

// ---- evicting

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
  if (k == n_kinds_) return evict_states(n);
  return is_full(k) ? evict_full(k, n) : evict_window(k, n);
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
  for (size_t kind = 0; kind < terms_->windows.size(); ++kind) {
    const uint64_t n_before = n_evicted_[kind];
    evict(static_cast<int>(kind), pool(kind).n_idle());
    n_evicted_[kind] = n_before;
  }
  evicted_.clear();
  was_evicted_.clear();
}

PrefixCounts PrefixTree::counts() const {
  PrefixCounts counts{n_nodes_, n_tokens_, {}, n_evicted_};
  for (size_t kind = 0; kind < terms_->windows.size(); ++kind) {
    counts.n_pages.push_back(static_cast<uint64_t>(pool(kind).n_kept()));
  }
  return counts;
}

// ---- checking

void PrefixTree::check_node(const std::string& space, const PrefixNode& node,
                            std::vector<std::unordered_set<int32_t>>& seen) const {
  const Use use{node.last_use, node.start, const_cast<PrefixNode*>(&node)};
  CHECK(node.is_root() == node.tokens.empty(), "a node has tokens, a root has none");
  CHECK(node.start % page_rows_ == 0, "a node begins with a page");
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
