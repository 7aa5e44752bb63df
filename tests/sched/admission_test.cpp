// Is a request priced by the rules, and refused with the numbers a client looks for?
#include "sched/admission.h"

#include <gtest/gtest.h>

#include <limits>

namespace ferrox {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// A store of one attention kind, 100 bytes a page.
struct Store {
  KvTerms terms;
  int64_t context_length;

  Store(int64_t context, int32_t n_pages, int32_t page_rows, int window = 0) : context_length(context) {
    terms.windows = {window};
    terms.n_pages = {n_pages};
    terms.page_bytes = {100};
    terms.page_rows = page_rows;
    terms.chunk_rows = 512;
  }
  Result<Reservation> price(int64_t n_prompt, std::optional<int64_t> max_tokens) const {
    return price_request({context_length, terms, 2048}, n_prompt, max_tokens);
  }
};

TEST(Admission, ClampsToTheContext) {
  const Store store(4, 100, 2);
  EXPECT_EQ(store.price(2, 5)->max_tokens, 2);
  EXPECT_EQ(store.price(2, 1)->max_tokens, 1);
  EXPECT_EQ(store.price(3, std::nullopt)->max_tokens, 1);
  EXPECT_EQ(store.price(1, -1)->max_tokens, 3);
  EXPECT_EQ(store.price(1, 0)->n_positions, 1);
  EXPECT_EQ(Store(100000, 100000, 2).price(10, std::nullopt)->max_tokens, 2048);
}

TEST(Admission, LongPromptsAreRefusedInTheWordsAgentsMatchOn) {
  const Store store(4, 100, 2);
  const Error error = store.price(5, 1).error();
  EXPECT_EQ(error.code, ErrorCode::kContextLength);
  EXPECT_EQ(error.message, "prompt is too long: 5 tokens > 4 maximum");
  EXPECT_EQ(store.price(4, 1).error().message, "prompt is too long: 4 tokens > 4 maximum")
      << "it leaves no room for a token; the maximum is the context";
  EXPECT_TRUE(store.price(3, 1));
}

TEST(Admission, OverflowIsRefusedLimitOrNoLimit) {
  EXPECT_EQ(Store(4096, 1000, 32).price(2, kMax).error().code, ErrorCode::kContextLength);
  EXPECT_EQ(Store(kMax, std::numeric_limits<int32_t>::max(), 1).price(2, kMax - 1).error().code,
            ErrorCode::kContextLength);
  EXPECT_EQ(Store(4096, 1000, 32).price(2, kMax - 2)->max_tokens, 4094);
}

TEST(Admission, MoreThanTheWholeStoreIsRefusedWithBothSides) {
  EXPECT_EQ(Store(1000, 6, 2).price(2, 10)->pages, std::vector<int64_t>{6});
  const Error error = Store(1000, 5, 2).price(2, 10).error();
  EXPECT_EQ(error.code, ErrorCode::kMemoryBudget);
  EXPECT_EQ(
      error.message,
      "request is too large for the KV store: estimated 600 bytes > limit 500 bytes (12 positions > 10 positions)");
}

/// Two layers of one kind are one group of pages: twelve pages over layers are six groups.
TEST(Admission, AWindowRunsWhereFullAttentionIsRefused) {
  EXPECT_EQ(Store(100000, 60, 4, 8).price(3, 400)->pages, std::vector<int64_t>{48});
  const Error error = Store(100000, 60, 4).price(3, 400).error();
  EXPECT_EQ(error.code, ErrorCode::kMemoryBudget);
  EXPECT_EQ(error.message,
            "request is too large for the KV store: estimated 10100 bytes > limit 6000 bytes (403 positions > 240 "
            "positions)");
}

TEST(Admission, EveryKindMustHold) {
  Store store(100000, 60, 4, 8);
  store.terms.windows = {8, 0};
  store.terms.page_bytes = {100, 100};
  store.terms.n_pages = {60, 100};
  EXPECT_EQ(store.price(3, 400).error().code, ErrorCode::kMemoryBudget);
  store.terms.n_pages = {60, 101};
  EXPECT_EQ(store.price(3, 400)->pages, (std::vector<int64_t>{48, 101}));
  store.terms.n_pages = {47, 101};
  EXPECT_EQ(store.price(3, 400).error().code, ErrorCode::kMemoryBudget);
}

TEST(Admission, NonsenseIsRefusedByName) {
  EXPECT_EQ(Store(100, 100, 2).price(0, 1).error().message, "prompt: expected at least one token, found none");
  EXPECT_EQ(Store(100, 100, 2).price(1, -2).error().message, "max_tokens: expected -1 or more, found -2");
}

}  // namespace
}  // namespace ferrox
