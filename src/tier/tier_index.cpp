#include "tier/tier_index.h"

#include <algorithm>

#include "base/check.h"
#include "tier/hit_value.h"

namespace ferrox {

PartMask TierIndex::use(const PageKey& key, double now_s, TierStats& counts) {
  IndexEntry* const held = find(key);
  ++(held == nullptr ? counts.n_misses : counts.n_hits);
  if (held == nullptr) return 0;
  use(*held, now_s);
  return held->name.parts;
}

void TierIndex::use(IndexEntry& entry, double now_s) {
  const double worth_s = used_once_more(entry.worth_s, now_s, half_life_s_);
  const bool is_leaf = entry.LeafHook::is_linked();
  if (is_leaf) leaves_.erase(leaves_.iterator_to(entry));
  entry.worth_s = worth_s;
  if (is_leaf) leaves_.insert(entry);
}

void TierIndex::insert(IndexEntry& entry) {
  CHECK(find(entry.name.key) == nullptr, "a key is held once");
  entry.order = next_order_++;
  grow(n_entries() + 1);
  keys_.insert(entry);
  if (entry.name.kind == EntryKind::kState) states_.insert(entry);
  if (IndexEntry* const parent = find(entry.name.parent); parent == nullptr) {
    orphans_.insert(entry);
  } else if (!closes_circle(entry)) {
    adopt(*parent, entry);
  }
  while (IndexEntry* const child = orphans_.find(entry.name.key)) {
    orphans_.erase(*child);
    adopt(entry, *child);
  }
  become_leaf_if_childless(entry);
}

void TierIndex::erase(IndexEntry& entry) {
  keys_.erase(entry);
  if (entry.name.kind == EntryKind::kState) states_.erase(entry);
  while (!entry.children.empty()) {
    IndexEntry& child = entry.children.front();
    entry.children.pop_front();
    child.parent = nullptr;
    orphans_.insert(child);
  }
  if (entry.LeafHook::is_linked()) leaves_.erase(leaves_.iterator_to(entry));
  if (entry.by_absent.at != nullptr) orphans_.erase(entry);
  if (entry.parent == nullptr) return;
  IndexEntry& parent = *std::exchange(entry.parent, nullptr);
  parent.children.erase(parent.children.iterator_to(entry));
  become_leaf_if_childless(parent);
}

// Whether what a new entry continues continues it. Only an orphan can, so that a walk is rare.
bool TierIndex::closes_circle(const IndexEntry& entry) const {
  if (entry.name.parent == entry.name.key) return true;
  if (orphans_.find(entry.name.key) == nullptr) return false;
  const IndexEntry* first = find(entry.name.parent);
  while (first->parent != nullptr) first = first->parent;
  return first->name.parent == entry.name.key;
}

void TierIndex::adopt(IndexEntry& parent, IndexEntry& child) {
  child.parent = &parent;
  parent.children.push_front(child);
  if (parent.LeafHook::is_linked()) leaves_.erase(leaves_.iterator_to(parent));
}

void TierIndex::become_leaf_if_childless(IndexEntry& entry) {
  if (entry.children.empty()) leaves_.insert(entry);
}

IndexEntry* TierIndex::least_valuable() { return leaves_.empty() ? nullptr : &*leaves_.begin(); }

IndexEntry* TierIndex::least_valuable_for(const EntryName& name) {
  const IndexEntry* const parent = find(name.parent);
  if (parent == nullptr && name.n_before > 0) return nullptr;
  for (IndexEntry& leaf : leaves_) {
    if (&leaf != parent) return &leaf;
  }
  return nullptr;
}

std::optional<StateMatch> TierIndex::longest_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                                   int32_t page_rows, int64_t max_tokens) const {
  const auto limit = std::min<int64_t>(static_cast<int64_t>(tokens.size()), max_tokens);
  for (size_t n_pages = keys.size(); n_pages-- > 0;) {
    const int64_t begin = static_cast<int64_t>(n_pages) * page_rows;
    if (begin > limit || states_.find(keys[n_pages]) == nullptr) continue;
    for (int64_t n = std::min<int64_t>(limit - begin, page_rows - 1); n >= 0; --n) {
      const auto rest = tokens.subspan(static_cast<size_t>(begin), static_cast<size_t>(n));
      if (const PageKey key = state_key(keys[n_pages], rest); find(key) != nullptr) return StateMatch{key, begin + n};
    }
  }
  return std::nullopt;
}

uint64_t TierIndex::growth_bytes() const {
  const size_t n = n_entries() + 1;
  return keys_.growth_bytes(n) + states_.growth_bytes(n) + orphans_.growth_bytes(n);
}

// All tables have room for all entries, so that only an insertion allocates: an entry may become an orphan at any time.
void TierIndex::grow(size_t n) {
  keys_.grow(n);
  states_.grow(n);
  orphans_.grow(n);
}

void TierIndex::check_integrity() const {
  size_t n_leaves = 0;
  size_t n_states = 0;
  size_t n_orphans = 0;
  keys_.for_each([&](const IndexEntry& entry) {
    CHECK(find(entry.name.key) == &entry, "an entry is found by its key");
    const bool is_orphan = entry.by_absent.at != nullptr;
    const bool is_loose = entry.parent == nullptr && !is_orphan;
    CHECK(is_loose || entry.parent == find(entry.name.parent), "an entry knows its parent while that is held");
    size_t n_above = 0;
    for (const IndexEntry* above = entry.parent; above != nullptr; above = above->parent) {
      CHECK(++n_above < n_entries(), "nobody continues himself");
    }
    CHECK(entry.LeafHook::is_linked() == entry.children.empty(), "leaves are those that nothing continues");
    for (const IndexEntry& child : entry.children) CHECK(child.parent == &entry, "children know their parent");
    n_leaves += entry.children.empty() ? 1 : 0;
    n_states += entry.name.kind == EntryKind::kState ? 1 : 0;
    n_orphans += is_orphan ? 1 : 0;
  });
  CHECK(n_leaves == static_cast<size_t>(std::distance(leaves_.begin(), leaves_.end())), "every leaf is in line");
  CHECK(n_states == states_.size() && n_orphans == orphans_.size(), "tables hold what they are for, once");
}

}  // namespace ferrox
