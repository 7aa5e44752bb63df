// Which entries does a tier hold, which state continues which page, and what goes first? Books over entries that it
// doesn't own.
//
// Only leaves go: a page stays while a page or state that continues it is held, since nothing finds those without it.
//
//   root --- A --- B --- C   (leaf)
//             \--- D         (leaf)        of the leaves the one of least worth goes first, then the older one
//
// Names of files say what continues what, and may lie: an entry whose parent would make a circle is kept loose, without
// a parent, so that there is always a leaf, and every entry can go.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/set.hpp>

#include <cstdint>
#include <optional>
#include <span>

#include "tier/entry_file.h"
#include "tier/hash_chains.h"
#include "tier/tier_stats.h"

namespace ferrox {

using LeafHook = boost::intrusive::set_base_hook<>;
using SiblingHook = boost::intrusive::list_base_hook<>;

/// One entry in the books. Tiers derive theirs from it.
struct IndexEntry : LeafHook, SiblingHook {
  using Children = boost::intrusive::list<IndexEntry, boost::intrusive::constant_time_size<false>>;

  EntryFileName name{};
  uint64_t size_bytes = 0;  ///< what it takes of the tier's budget
  double worth_s = 0;
  uint64_t order = 0;  ///< of insertion
  IndexEntry* parent = nullptr;
  Children children;
  ChainLink<IndexEntry> by_key;
  ChainLink<IndexEntry> by_parent;  ///< of states
  ChainLink<IndexEntry> by_absent;  ///< of entries whose parent isn't held, but for loose ones

  IndexEntry() = default;
  IndexEntry(const IndexEntry&) = delete;
  IndexEntry& operator=(const IndexEntry&) = delete;
};

/// One thread at a time.
class TierIndex {
 public:
  explicit TierIndex(double half_life_s) : half_life_s_(half_life_s) {}

  IndexEntry* find(const PageKey& key) const { return keys_.find(key); }
  size_t n_entries() const { return keys_.size(); }

  /// A use at now_s.
  void use(IndexEntry& entry, double now_s);

  /// The parts held under a key that is looked for, a use and a hit of it; 0 and a miss when there is none.
  PartMask use(const PageKey& key, double now_s, TierStats& counts);

  /// CHECKs that the key isn't held. Entries that continue it find it, if they came first.
  void insert(IndexEntry& entry);
  void erase(IndexEntry& entry);

  /// The leaf of least worth, or nullptr.
  IndexEntry* least_valuable();

  /// The one that may go for an entry's sake, or nullptr: not what the entry continues, and none for an entry that
  /// continues what isn't held, since nothing would find it.
  IndexEntry* least_valuable_for(const EntryName& name);

  /// The longest held state of a prompt (PrefixTiers::find_state).
  std::optional<StateMatch> longest_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                          int32_t page_rows, int64_t max_tokens) const;

  /// Bytes of tables, and what one more entry adds to them at its peak.
  uint64_t table_bytes() const { return keys_.bytes() + states_.bytes() + orphans_.bytes(); }
  uint64_t growth_bytes() const;

  template <class Visit>
  void for_each(const Visit& visit) const {
    keys_.for_each(visit);
  }

  /// CHECKs families and leaves, entry by entry.
  void check_integrity() const;

 private:
  struct ByKey {
    static ChainLink<IndexEntry>& link(IndexEntry& entry) { return entry.by_key; }
    static const PageKey& key(const IndexEntry& entry) { return entry.name.key; }
  };
  struct ByParent {
    static ChainLink<IndexEntry>& link(IndexEntry& entry) { return entry.by_parent; }
    static const PageKey& key(const IndexEntry& entry) { return entry.name.parent; }
  };
  struct ByAbsent {
    static ChainLink<IndexEntry>& link(IndexEntry& entry) { return entry.by_absent; }
    static const PageKey& key(const IndexEntry& entry) { return entry.name.parent; }
  };
  struct LessWorth {
    bool operator()(const IndexEntry& a, const IndexEntry& b) const {
      return a.worth_s != b.worth_s ? a.worth_s < b.worth_s : a.order < b.order;
    }
  };
  using Leaves = boost::intrusive::set<IndexEntry, boost::intrusive::compare<LessWorth>,
                                       boost::intrusive::constant_time_size<false>>;

  bool closes_circle(const IndexEntry& entry) const;
  void adopt(IndexEntry& parent, IndexEntry& child);
  void grow(size_t n);
  void become_leaf_if_childless(IndexEntry& entry);

  double half_life_s_;
  uint64_t next_order_ = 0;
  HashChains<IndexEntry, ByKey> keys_;
  HashChains<IndexEntry, ByParent> states_;
  HashChains<IndexEntry, ByAbsent> orphans_;
  Leaves leaves_;
};

}  // namespace ferrox
