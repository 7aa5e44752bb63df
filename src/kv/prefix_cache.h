// How does a store's free memory serve as a cache? The tree of what was computed, and pages that give way on demand.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kv/paged_store.h"
#include "kv/prefix_pins.h"
#include "kv/prefix_report.h"
#include "kv/prefix_tree.h"

namespace ferrox {

class PrefixCache {
 public:
  /// All must outlive the cache.
  PrefixCache(PagedStore& store, PageGroups& groups, const KvTerms& terms)
      : store_(store), groups_(groups), terms_(terms), tree_(groups, terms), pins_(tree_, terms.page_rows) {}

  const PagedStore& store() const { return store_; }
  const KvTerms& terms() const { return terms_; }
  PageGroups& groups() { return groups_; }
  PrefixTree& tree() { return tree_; }
  const PrefixTree& tree() const { return tree_; }
  PrefixPins& pins() { return pins_; }

  /// As the tree's; pins that wait for these tokens hold them from now on.
  PrefixTree::Insertion insert(std::string_view space, std::span<const int32_t> tokens,
                               std::span<const std::vector<int32_t>> pages, int32_t state = kNoPage);

  /// What a request for this prompt can go on behind: at least one token is left to compute.
  PrefixMatch match(std::string_view space, std::span<const int32_t> prompt) const {
    return tree_.match(space, prompt, static_cast<int64_t>(prompt.size()) - 1);
  }
  PrefixReport report(std::string_view space, std::span<const int32_t> prompt) const;

  /// A request was admitted behind n of n_prompt tokens.
  void count_query(int64_t n_prompt, int64_t n_reused);

  /// Evicts until n[kind] pages of each kind are free; changes nothing and gives false when that can't be.
  bool make_room(std::span<const int64_t> n);

  /// A holder of pages of the tree, so that they stay while room is made.
  class Hold {
   public:
    Hold(PageGroups& groups, const PrefixMatch& match);
    /// `pages`: of each kind.
    Hold(PageGroups& groups, std::vector<std::vector<int32_t>> pages);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    PageGroups& groups_;
    std::vector<std::vector<int32_t>> pages_;  ///< of each kind
  };

  PrefixCacheReport report(size_t most_nodes) const;

 private:
  PagedStore& store_;
  PageGroups& groups_;
  const KvTerms& terms_;
  PrefixTree tree_;
  PrefixPins pins_;
  PrefixCacheReport counts_;  ///< its counters alone
};

}  // namespace ferrox
