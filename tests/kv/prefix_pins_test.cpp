// Does what is pinned stay while anything else can go, and come back under its pin when it had to go?
#include "kv/prefix_pins.h"

#include <gtest/gtest.h>

#include <numeric>

namespace ferrox {
namespace {

using PinTokens = std::vector<int32_t>;

constexpr int32_t kPinPageRows = 4;

PinTokens tokens_from(int32_t first, int32_t n) {
  PinTokens tokens(static_cast<size_t>(n));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

KvTerms full_terms() {
  KvTerms terms;
  terms.windows = {0};
  terms.n_pages = {32};
  terms.page_bytes = {1};
  terms.page_rows = kPinPageRows;
  return terms;
}

struct PinnedTree {
  const KvTerms terms = full_terms();
  PageGroups groups{terms.n_pages, PageGroups::State::kNone};
  PrefixTree tree{groups, terms};
  PrefixPins pins{tree, kPinPageRows};

  void add(const PinTokens& tokens, std::string_view space = "") {
    PinTokens pages;
    ASSERT_TRUE(
        groups.pool(0).try_acquire((static_cast<int64_t>(tokens.size()) + kPinPageRows - 1) / kPinPageRows, pages));
    tree.insert(space, tokens, std::vector<PinTokens>{pages});
    groups.pool(0).release(pages);
    pins.note_cached(space, tokens);
    tree.check_integrity();
  }
  int64_t n_kept(const PinTokens& tokens, std::string_view space = "") const {
    return tree.kept(space, tokens).n_tokens;
  }
  void evict(int64_t n) {
    tree.evict(0, n);
    tree.check_integrity();
  }
};

TEST(PrefixPins, ThePinnedGoLast) {
  PinnedTree cache;
  cache.add(tokens_from(0, 8));
  const auto pin = cache.pins.add("", tokens_from(0, 8), std::nullopt);
  ASSERT_TRUE(pin) << pin.error().message;
  EXPECT_EQ(pin->n_cached, 8);
  cache.add(tokens_from(100, 8));
  cache.add(tokens_from(200, 8));
  cache.evict(4);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 8)), 8) << "it is the oldest";
  EXPECT_EQ(cache.n_kept(tokens_from(100, 8)) + cache.n_kept(tokens_from(200, 8)), 0);
  cache.evict(1);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 8)), 4) << "a pin is no reservation";
}

TEST(PrefixPins, WhatIsComputedLaterIsPinnedThen) {
  PinnedTree cache;
  EXPECT_EQ(cache.pins.add("", tokens_from(0, 13), std::nullopt)->n_cached, 0);
  cache.add(tokens_from(0, 20));
  EXPECT_EQ(cache.pins.list("").front().n_cached, 12) << "whole pages";
  cache.evict(2);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 20)), 12);
  cache.evict(1);
  EXPECT_EQ(cache.pins.list("").front().n_cached, 8);
  cache.add(tokens_from(0, 12));
  cache.add(tokens_from(300, 4));
  cache.evict(1);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 12)), 12) << "what came back is pinned again";
  EXPECT_EQ(cache.n_kept(tokens_from(300, 4)), 0);
}

TEST(PrefixPins, WhatFollowsAPinIsNotPinned) {
  PinnedTree cache;
  cache.add(tokens_from(0, 8));
  ASSERT_TRUE(cache.pins.add("", tokens_from(0, 8), std::nullopt));
  cache.add(tokens_from(0, 16));
  cache.add(tokens_from(100, 8));
  cache.evict(4);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 16)), 8);
}

TEST(PrefixPins, APinWithinAPartHoldsItsOwnPagesAlone) {
  PinnedTree cache;
  cache.add(tokens_from(0, 16));
  EXPECT_EQ(cache.pins.add("", tokens_from(0, 10), std::nullopt)->n_cached, 8);
  cache.evict(2);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 16)), 8);
}

TEST(PrefixPins, TheyEnd) {
  PinnedTree cache;
  const PrefixPin::Time start{};
  const auto second = std::chrono::seconds(1);
  cache.add(tokens_from(0, 4));
  const uint64_t id = cache.pins.add("", tokens_from(0, 4), start + second)->id;
  EXPECT_EQ(cache.pins.add("", tokens_from(0, 4), start + 3 * second)->id, id) << "the same prefix has one pin";
  cache.pins.expire(start + 2 * second);
  EXPECT_EQ(cache.pins.size(), 1u);
  cache.pins.expire(start + 3 * second);
  EXPECT_EQ(cache.pins.size(), 0u);
  cache.add(tokens_from(100, 4));
  cache.evict(1);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 4)), 0) << "the oldest again";
}

TEST(PrefixPins, ARemovedPinHoldsNothing) {
  PinnedTree cache;
  cache.add(tokens_from(0, 8));
  const uint64_t outer = cache.pins.add("", tokens_from(0, 8), std::nullopt)->id;
  const uint64_t inner = cache.pins.add("", tokens_from(0, 4), std::nullopt)->id;
  EXPECT_FALSE(cache.pins.remove("other", outer)) << "of another namespace";
  EXPECT_TRUE(cache.pins.remove("", outer));
  EXPECT_FALSE(cache.pins.remove("", outer));
  cache.tree.check_integrity();
  cache.add(tokens_from(100, 4));
  cache.evict(1);
  EXPECT_EQ(cache.n_kept(tokens_from(0, 8)), 4) << "what the inner one holds";
  cache.evict(1);
  EXPECT_EQ(cache.n_kept(tokens_from(100, 4)), 0);
  EXPECT_TRUE(cache.pins.remove("", inner));
}

TEST(PrefixPins, NamespacesAreApart) {
  PinnedTree cache;
  cache.add(tokens_from(0, 4), "one");
  EXPECT_EQ(cache.pins.add("two", tokens_from(0, 4), std::nullopt)->n_cached, 0);
  EXPECT_TRUE(cache.pins.list("one").empty());
  EXPECT_EQ(cache.pins.list("t").size(), 1u) << "namespaces that begin so";
}

TEST(PrefixPins, TooFewTokensAndTooManyPinsAreRefused) {
  PinnedTree cache;
  EXPECT_EQ(cache.pins.add("", tokens_from(0, 3), std::nullopt).error().message,
            "pin: expected at least a page of 4 tokens, found 3");
  EXPECT_FALSE(cache.pins.add("", {}, std::nullopt));
  for (size_t i = 0; i < PrefixPins::kMost; ++i) {
    EXPECT_TRUE(cache.pins.add("", tokens_from(static_cast<int32_t>(10 * i), 4), std::nullopt));
  }
  EXPECT_FALSE(cache.pins.add("", tokens_from(5000, 4), std::nullopt));
  EXPECT_TRUE(cache.pins.add("", tokens_from(0, 4), std::nullopt)) << "one of them";
  EXPECT_TRUE(cache.pins.add("b/x", tokens_from(5000, 4), std::nullopt, "b/")) << "another caller has as many";
  EXPECT_FALSE(cache.pins.add("", tokens_from(6000, 4), std::nullopt));
}

}  // namespace
}  // namespace ferrox
