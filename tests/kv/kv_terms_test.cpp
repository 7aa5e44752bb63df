// Is a request charged what it can hold at once, in every kind?
#include "kv/kv_terms.h"

#include <gtest/gtest.h>

#include <limits>

namespace ferrox {
namespace {

KvTerms terms_with(std::vector<int> windows, int32_t page_rows, int64_t interval = kSlideInterval) {
  KvTerms terms;
  terms.windows = std::move(windows);
  terms.page_bytes.assign(terms.windows.size(), 10);
  terms.page_rows = page_rows;
  terms.chunk_rows = 512;
  terms.slide_interval = interval;
  return terms;
}

TEST(KvTerms, ASlidingKindHoldsItsBound) {
  const KvTerms terms = terms_with({8, 0}, 4);
  EXPECT_EQ(sliding_bound(terms, 8), 184);
  for (const int64_t max_tokens : {10'000, 20'000, 1'000'000}) EXPECT_EQ(held_positions(terms, 8, 3, max_tokens), 191);
  EXPECT_EQ(held_positions(terms, 8, 17, 3), 20) << "never more than there are";
  EXPECT_EQ(lease_pages(terms, 3, 400), (std::vector<int64_t>{48, 101}));
}

TEST(KvTerms, ALongPromptIsHeldByTheChunk) {
  const KvTerms terms = terms_with({8}, 4);
  EXPECT_EQ(held_positions(terms, 8, 100'000, 10'000), 512 + 8 + 4 + 184 + 4);
}

TEST(KvTerms, DraftsAreHeldToo) {
  KvTerms terms = terms_with({8}, 4);
  terms.max_draft = 7;
  EXPECT_EQ(sliding_bound(terms, 8), 191);
}

/// What a prompt's whole pages hold is counted once, and the rest for each answer.
TEST(KvTerms, ChoicesShareWholePages) {
  const KvTerms full = terms_with({0}, 4);
  EXPECT_EQ(choice_pages(full, 42, 10, 1), lease_pages(full, 42, 10));
  EXPECT_EQ(choice_pages(full, 42, 10, 4), std::vector<int64_t>{10 + 4 * 3});
  EXPECT_EQ(choice_pages(full, 3, 1, 3), std::vector<int64_t>{3}) << "nothing to share";
  const KvTerms sliding = terms_with({8}, 4);
  EXPECT_EQ(fork_pages(sliding, 42, 10'000), std::vector<int64_t>{(184 + 8) / 4});
  EXPECT_EQ(choice_pages(sliding, 42, 10'000, 2)[0] - choice_pages(sliding, 42, 10'000, 1)[0],
            fork_pages(sliding, 42, 10'000)[0]);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(choice_pages(full, kMax - 1, kMax, 16)[0], kMax);
}

TEST(KvTerms, HugeRequestsSaturate) {
  const KvTerms terms = terms_with({0, 8}, 1);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(lease_pages(terms, kMax, kMax)[0], kMax);
  EXPECT_EQ(bytes_of_pages(terms, lease_pages(terms, kMax, kMax)), std::numeric_limits<uint64_t>::max());
}

TEST(KvTerms, TheLongestRequestOfAStore) {
  KvTerms terms = terms_with({0}, 4);
  terms.n_pages = {60};
  EXPECT_EQ(longest_request(terms, 1000, 1000), 240);
  EXPECT_EQ(longest_request(terms, 100, 100), 100);
  terms.windows = {8};
  EXPECT_EQ(longest_request(terms, 3, 1'000'000), 1'000'000) << "a window runs for ever";
  EXPECT_EQ(longest_request(terms, 1'000'000, 1'000'000), 240) << "but a prompt is held by the chunk";
}

}  // namespace
}  // namespace ferrox
