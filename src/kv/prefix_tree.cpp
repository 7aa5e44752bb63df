#include "kv/prefix_tree.h"

#include <algorithm>

#include "base/check.h"
#include "kv/kv_layout.h"
#include "kv/page_hash.h"

namespace ferrox {
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
  if (observer_ != nullptr) root->hashes = {root_hash(space)};
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

KeptPrefix PrefixTree::kept(std::string_view space, std::span<const int32_t> tokens) const {
  const std::vector<Step> path = walk(space, tokens);
  KeptPrefix kept;
  if (!path.empty()) kept.n_tokens = path.back().node->start + path.back().n_matched;
  for (size_t kind = 0; kind < n_kinds_; ++kind) kept.pages.push_back(pages_along(path, kind, kept.n_tokens));
  for (const Step& step : path) {
    for (const StateSnapshot& state : step.node->states) {
      if (state.position <= kept.n_tokens) kept.states.push_back(state);
    }
  }
  return kept;
}

bool PrefixTree::has_state(std::string_view space, std::span<const int32_t> tokens) const {
  const auto n = static_cast<int64_t>(tokens.size());
  int32_t page = kNoPage;
  return n > 0 && last_state(walk(space, tokens), n, page) == n;
}

// ---- orders of eviction

void PrefixTree::index(PrefixNode& node) {
  const Use use = use_of(node);
  if (node.is_leaf()) leaves_.insert(use);
  for (size_t kind = 0; kind < n_kinds_; ++kind) {
    if (!is_full(kind) && node.n_live[kind] > 0) live_[kind].insert(use);
  }
  if (!node.states.empty()) with_states_.insert(use);
}

void PrefixTree::unindex(PrefixNode& node) {
  const Use use = use_of(node);
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
  prefix.pins = node.pins;
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
  if (observer_ != nullptr) {
    prefix.hashes.assign(node.hashes.begin(), node.hashes.begin() + page_cut);
    node.hashes.erase(node.hashes.begin(), node.hashes.begin() + page_cut);
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
  if (observer_ != nullptr) tell_stored(space, last);
  if (!has_full_) trim(&last);
  tell_removed();
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
    if (!node->is_leaf() || !node->pins.empty()) {  // a pinned leaf isn't made longer than its pin
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

void PrefixTree::pin(uint64_t pin, std::string_view space, std::span<const int32_t> tokens) {
  for (const Step& step : walk(space, tokens)) {
    const int64_t n_whole = step.n_matched / page_rows_ * page_rows_;
    if (n_whole == 0) break;
    PrefixNode& node = n_whole < step.node->n_tokens() ? split(*step.node, n_whole) : *step.node;
    if (std::ranges::find(node.pins, pin) != node.pins.end()) continue;
    unindex(node);
    node.pins.push_back(pin);
    index(node);
  }
}

void PrefixTree::unpin(uint64_t pin, std::string_view space, std::span<const int32_t> tokens) {
  for (const Step& step : walk(space, tokens)) {
    unindex(*step.node);
    std::erase(step.node->pins, pin);
    index(*step.node);
  }
}

PrefixCounts PrefixTree::counts() const {
  PrefixCounts counts{n_nodes_, n_tokens_, {}, n_evicted_};
  for (size_t kind = 0; kind < terms_->windows.size(); ++kind) {
    counts.n_pages.push_back(static_cast<uint64_t>(pool(kind).n_kept()));
  }
  return counts;
}

}  // namespace ferrox
