// Does the tree's observer hear of every whole page, and are hashes what readers can count on?
#include "kv/prefix_observer.h"

#include <gtest/gtest.h>

#include "kv/cache_replica.h"

namespace ferrox {
namespace {

using ObservedTokens = std::vector<int32_t>;
using testing::CacheReplica;
using testing::hashes_in;

constexpr int32_t kPools[] = {64};

/// Pages of two positions, full attention alone.
struct ObservedTree {
  ObservedTree() : groups(kPools, PageGroups::State::kNone) {
    terms.n_pages = {64};
    terms.page_bytes = {1};
    terms.windows = {0};
    terms.page_rows = 2;
    tree = std::make_unique<PrefixTree>(groups, terms);
    tree->observe(replica);
  }

  ObservedTokens add(const ObservedTokens& tokens, std::string_view space = "") {
    ObservedTokens pages;
    EXPECT_TRUE(groups.pool(0).try_acquire((static_cast<int64_t>(tokens.size()) + 1) / 2, pages));
    tree->insert(space, tokens, std::vector<ObservedTokens>{pages});
    groups.pool(0).release(pages);
    tree->check_integrity();
    EXPECT_EQ(replica.known, hashes_in(*tree, 2));
    return pages;
  }

  KvTerms terms;
  PageGroups groups;
  CacheReplica replica;
  std::unique_ptr<PrefixTree> tree;
};

TEST(PageHash, IsTheSameInEveryProcess) {
  const ObservedTokens tokens = {1, 2, 3};
  EXPECT_EQ(root_hash(""), 0xef46db3751d8e999u) << "XXH64 of nothing";
  EXPECT_EQ(page_hash(root_hash(""), tokens), page_hash(0xef46db3751d8e999u, ObservedTokens{1, 2, 3}));
  EXPECT_NE(page_hash(root_hash(""), tokens), page_hash(root_hash("alice"), tokens));
  EXPECT_NE(page_hash(1, tokens), page_hash(2, tokens));
}

TEST(PrefixObserver, HearsOfWholePagesAlone) {
  ObservedTree cache;
  cache.add({1, 2, 3});
  EXPECT_EQ(cache.replica.known.size(), 1u);
  cache.add({1, 2, 3, 4, 5});
  EXPECT_EQ(cache.replica.known.size(), 2u) << "the page that filled up, and nothing twice";
  cache.add({1, 2, 7, 8});
  EXPECT_EQ(cache.replica.known.size(), 3u) << "behind a split";
}

TEST(PrefixObserver, NamespacesShareNoHash) {
  ObservedTree cache;
  cache.add({1, 2, 3, 4});
  cache.add({1, 2, 3, 4}, "alice");
  EXPECT_EQ(cache.replica.known.size(), 4u);
}

TEST(PrefixObserver, HearsOfWhatGoes) {
  ObservedTree cache;
  cache.add({1, 2, 3, 4, 5});
  cache.tree->evict(0, 2);
  EXPECT_EQ(cache.replica.known, hashes_in(*cache.tree, 2));
  EXPECT_EQ(cache.replica.known.size(), 1u);
}

TEST(PrefixObserver, IsToldOnceThatAllIsGone) {
  ObservedTree cache;
  cache.add({1, 2, 3, 4});
  cache.tree->clear();
  EXPECT_EQ(cache.replica.n_cleared, 1);
  EXPECT_TRUE(cache.replica.known.empty());
  cache.tree->clear();
  EXPECT_EQ(cache.replica.n_cleared, 1) << "nothing went";
}

TEST(PrefixObserver, AClearThatLeavesSomethingSaysWhatWent) {
  ObservedTree cache;
  ObservedTokens held = cache.add({1, 2});
  cache.groups.pool(0).retain(held);
  cache.add({5, 6, 7, 8});
  cache.tree->clear();
  EXPECT_EQ(cache.replica.n_cleared, 0);
  EXPECT_EQ(cache.replica.known, hashes_in(*cache.tree, 2));
  EXPECT_EQ(cache.replica.known.size(), 1u);
  cache.groups.pool(0).release(held);
}

}  // namespace
}  // namespace ferrox
