// What is already computed of a prompt? Every cached sequence, its common starts stored once.
//
//   root -- [system prompt] --+-- [question 1, answer 1] -- [question 2 ..|   the last page of a leaf may be part full
//            whole pages      `-- [question 7 ..|
//
// A node keeps a page of each attention kind for each page of its tokens, where there is one. Three currencies:
//   full attention   kept for every position: without it the position isn't there
//   sliding windows  kept where a request may resume; elsewhere the node is a tombstone for that kind
//   states           snapshots after exact positions
// Each can be evicted alone. The tree is a holder of pages like any request: what nobody else holds is idle, and only
// that is evicted. A request holds every full page before its own, so idle ones always reach to the leaves.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kv/kind_table.h"
#include "kv/kv_terms.h"
#include "kv/page_groups.h"
#include "kv/prefix_node.h"
#include "kv/prefix_observer.h"

namespace ferrox {

/// What is cached of a sequence's start.
struct PrefixMatch {
  int64_t n_common = 0;  ///< tokens that a cached sequence begins with as well
  int64_t n_usable = 0;  ///< tokens behind which a request can go on: window rows and state are there
  std::vector<std::vector<int32_t>> pages;  ///< [attention kind], for n_usable tokens; kNoPage where nothing reads
  int32_t state = kNoPage;                  ///< the snapshot after n_usable tokens
  bool was_evicted = false;                 ///< more was there once
};

/// What is kept of a sequence, whether or not anything can go on behind it.
struct KeptPrefix {
  int64_t n_tokens = 0;                     ///< that a cached sequence begins with as well
  std::vector<std::vector<int32_t>> pages;  ///< [attention kind], for n_tokens tokens; kNoPage where none is kept
  std::vector<StateSnapshot> states;        ///< after at most n_tokens tokens, by position
};

struct PrefixCounts {
  uint64_t n_nodes = 0;
  uint64_t n_tokens = 0;
  std::vector<uint64_t> n_pages;    ///< of each kind, states included
  std::vector<uint64_t> n_evicted;  ///< likewise, since the start
};

/// Every CHECK is a bug of the caller.
class PrefixTree {
 public:
  /// Both must outlive the tree.
  PrefixTree(PageGroups& groups, const KvTerms& terms);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  /// From now on `observer`, which outlives the tree, hears of every page. CHECKs that there is none yet.
  void observe(PrefixObserver& observer);

  /// What of `tokens` a request can go on behind, at most `limit` tokens. Changes nothing. `space`: the namespace; what
  /// is cached in one isn't seen from another.
  PrefixMatch match(std::string_view space, std::span<const int32_t> tokens, int64_t limit) const;

  /// What is kept of `tokens`. Changes nothing.
  KeptPrefix kept(std::string_view space, std::span<const int32_t> tokens) const;

  /// Whether there is a snapshot after all of `tokens`.
  bool has_state(std::string_view space, std::span<const int32_t> tokens) const;

  /// The first n tokens have been used.
  void touch(std::string_view space, std::span<const int32_t> tokens, int64_t n);

  struct Insertion {
    int64_t n_known = 0;                    ///< tokens that were there
    std::vector<int64_t> n_taken;           ///< pages of each attention kind that the tree keeps from now on
    std::vector<PageDuplicate> duplicates;  ///< whole pages of the full kind that were there; the caller frees its own
    bool took_state = false;
  };

  /// Keeps what isn't there yet. pages[kind] are the caller's, one for each page of the tokens, kNoPage for what is not
  /// to be kept; those of a full kind are all there. A part-full last page may be written behind its rows. `state`, a
  /// page of the state kind or kNoPage, holds the state after all of the tokens. What nothing could resume from, and
  /// takes no page of a full kind, isn't kept.
  Insertion insert(std::string_view space, std::span<const int32_t> tokens, std::span<const std::vector<int32_t>> pages,
                   int32_t state = kNoPage);

  /// What is cached of the tokens, which are whole pages, goes after all else while this pin holds it.
  void pin(uint64_t pin, std::string_view space, std::span<const int32_t> tokens);
  void unpin(uint64_t pin, std::string_view space, std::span<const int32_t> tokens);

  /// Frees n pages of a kind, those that were used longest ago first and pinned ones last; CHECKs that so many are
  /// idle.
  void evict(int kind, int64_t n);

  /// Forgets everything that nobody holds.
  void clear();

  PrefixCounts counts() const;

  /// Visits every node, parents first. `space` of roots is their namespace.
  template <class Visit>
  void each_node(const Visit& visit) const {
    for (const auto& [space, root] : roots_) visit_below(space, *root, visit);
  }

  /// CHECKs every rule of the tree and its agreement with the pools.
  void check_integrity() const;

 private:
  struct Step {
    PrefixNode* node;
    int64_t n_matched;  ///< tokens of the node
  };
  /// An entry of an order of eviction: oldest first, and of one walk the part that is nearer to the root.
  struct Use {
    bool is_pinned;
    uint64_t tick;
    int64_t start;
    PrefixNode* node;
    auto operator<=>(const Use&) const = default;
  };

  template <class Visit>
  static void visit_below(const std::string& space, const PrefixNode& node, const Visit& visit) {
    visit(space, node);
    for (const PrefixNode* child : node.children) visit_below(space, *child, visit);
  }

  static Use use_of(const PrefixNode& node) {
    return {!node.pins.empty(), node.last_use, node.start, const_cast<PrefixNode*>(&node)};
  }
  bool is_full(size_t kind) const { return terms_->windows[kind] == 0; }
  PagePool& pool(size_t kind) const { return groups_->pool(static_cast<int>(kind)); }
  PagePool& state_pool() const { return pool(n_kinds_); }
  const PrefixNode* find_root(std::string_view space) const;
  PrefixNode& root_of(std::string_view space);
  std::vector<Step> walk(std::string_view space, std::span<const int32_t> tokens) const;
  std::vector<int32_t> pages_along(const std::vector<Step>& path, size_t kind, int64_t n_tokens) const;
  PrefixMatch usable_along(const std::vector<Step>& path, int64_t limit) const;
  std::vector<std::vector<Step>> side_paths(const std::vector<Step>& path, std::span<const int32_t> tokens) const;
  int64_t resumable(std::span<const int32_t> pages, int window, int64_t n) const;
  static int64_t last_state(const std::vector<Step>& path, int64_t n, int32_t& page);

  void index(PrefixNode& node);
  void unindex(PrefixNode& node);
  void use(PrefixNode& node);
  void keep(PrefixNode& node, size_t kind, size_t i, int32_t page);
  void drop(PrefixNode& node, size_t kind, size_t i);
  void drop_state(PrefixNode& node, size_t i);
  PrefixNode& split(PrefixNode& node, int64_t n_tokens);
  void meet(PrefixNode& node, int64_t n_tokens, std::span<const std::vector<int32_t>> pages, Insertion& done);
  void append(PrefixNode& node, std::span<const int32_t> tokens, std::span<const std::vector<int32_t>> pages,
              Insertion& done);
  PrefixNode& insert_rows(std::string_view space, std::span<const int32_t> tokens,
                          std::span<const std::vector<int32_t>> pages, Insertion& done);
  bool insert_state(PrefixNode& node, int64_t position, int32_t page);
  PrefixNode& add_child(PrefixNode& parent);
  bool drop_last_page(PrefixNode& node);
  void remove_leaf(PrefixNode& node);
  void trim(PrefixNode* leaf);
  void evict_pages(size_t kind, int64_t n);
  void evict_full(size_t kind, int64_t n);
  void evict_window(size_t kind, int64_t n);
  void evict_states(int64_t n);
  static uint64_t hash_of(std::string_view space, std::span<const int32_t> tokens);
  void tell_stored(std::string_view space, PrefixNode& node);
  void tell_removed();
  void remember_evicted(const PrefixNode& node, int64_t n_tokens);
  void check_node(const std::string& space, const PrefixNode& node,
                  std::vector<std::unordered_set<int32_t>>& seen) const;

  PageGroups* groups_;
  const KvTerms* terms_;
  int32_t page_rows_;
  size_t n_kinds_;  ///< attention kinds
  bool has_full_;   ///< one of them is full
  bool has_state_;
  uint64_t clock_ = 0;  ///< ticks once a walk
  std::map<std::string, std::unique_ptr<PrefixNode>, std::less<>> roots_;
  std::set<Use> leaves_;
  std::vector<std::set<Use>> live_;  ///< [attention kind]: nodes that keep pages of a sliding one
  std::set<Use> with_states_;
  uint64_t n_nodes_ = 0;
  uint64_t n_tokens_ = 0;
  std::vector<uint64_t> n_evicted_;
  PrefixObserver* observer_ = nullptr;  ///< nullptr: pages have no hashes
  std::vector<uint64_t> removed_;       ///< hashes of pages that went, and that it hasn't heard of
  std::deque<uint64_t> evicted_;        ///< hashes of the last starts that were evicted, first page by first page
  std::unordered_multiset<uint64_t> was_evicted_;
};

}  // namespace ferrox
