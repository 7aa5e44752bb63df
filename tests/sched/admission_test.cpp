// Is a request priced by the rules, and refused with the numbers a client looks for?
#include "sched/admission.h"

#include <gtest/gtest.h>

#include <limits>

namespace ferrox {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

AdmissionLimits limits_of(int64_t context_length, int64_t n_pages, int32_t page_rows) {
  return {.context_length = context_length,
          .n_pages = n_pages,
          .page_rows = page_rows,
          .page_bytes = 100,
          .default_max_tokens = 2048};
}

TEST(Admission, ClampsToTheContext) {
  const AdmissionLimits limits = limits_of(4, 100, 2);
  EXPECT_EQ(price_request(limits, 2, 5)->max_tokens, 2);
  EXPECT_EQ(price_request(limits, 2, 1)->max_tokens, 1);
  EXPECT_EQ(price_request(limits, 3, std::nullopt)->max_tokens, 1);
  EXPECT_EQ(price_request(limits, 1, -1)->max_tokens, 3);
  EXPECT_EQ(price_request(limits, 1, 0)->n_positions, 1);
  EXPECT_EQ(price_request(limits_of(100000, 100000, 2), 10, std::nullopt)->max_tokens, 2048);
}

TEST(Admission, LongPromptsAreRefusedInTheWordsAgentsMatchOn) {
  const AdmissionLimits limits = limits_of(4, 100, 2);
  const Error error = price_request(limits, 5, 1).error();
  EXPECT_EQ(error.code, ErrorCode::kContextLength);
  EXPECT_EQ(error.message, "prompt is too long: 5 tokens > 4 maximum");
  // A prompt that fills the context leaves no room for a token: the arithmetic shown must be true for it too.
  EXPECT_EQ(price_request(limits, 4, 1).error().message, "prompt is too long: 4 tokens > 3 maximum");
  EXPECT_TRUE(price_request(limits, 3, 1));
}

TEST(Admission, OverflowIsRefusedLimitOrNoLimit) {
  EXPECT_EQ(price_request(limits_of(4096, 1000, 32), 2, kMax).error().code, ErrorCode::kContextLength);
  EXPECT_EQ(price_request(limits_of(kMax, kMax, 1), 2, kMax - 1).error().code, ErrorCode::kContextLength);
  EXPECT_EQ(price_request(limits_of(4096, 1000, 32), 2, kMax - 2)->max_tokens, 4094);
}

TEST(Admission, MoreThanTheWholeStoreIsRefusedWithBothSides) {
  EXPECT_EQ(price_request(limits_of(1000, 6, 2), 2, 10)->n_pages, 6);
  const Error error = price_request(limits_of(1000, 5, 2), 2, 10).error();
  EXPECT_EQ(error.code, ErrorCode::kMemoryBudget);
  EXPECT_EQ(
      error.message,
      "request is too large for the KV store: estimated 600 bytes > limit 500 bytes (12 positions > 10 positions)");
}

TEST(Admission, NonsenseIsRefusedByName) {
  EXPECT_EQ(price_request(limits_of(100, 100, 2), 0, 1).error().message,
            "prompt: expected at least one token, found none");
  EXPECT_EQ(price_request(limits_of(100, 100, 2), 1, -2).error().message, "max_tokens: expected -1 or more, found -2");
}

}  // namespace
}  // namespace ferrox
