// Do quotas count as they say? With a clock of the test's own.
#include "server/keys/quota_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferrox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

const TokenBucket::Time kStart{std::chrono::hours(1000)};

TEST(TokenBucket, HoldsAMinutesWorthAndFillsEvenly) {
  TokenBucket bucket(600, kStart);  // ten a second
  bucket.take(600, kStart);
  EXPECT_FALSE(bucket.is_open(kStart)) << "at zero nothing may be asked for";
  EXPECT_EQ(bucket.overdrawn(kStart), 0);
  EXPECT_EQ(bucket.wait_s(kStart), 1);
  EXPECT_TRUE(bucket.is_open(kStart + milliseconds(1)));
}

TEST(TokenBucket, IsPaidBackBelowZero) {
  TokenBucket bucket(600, kStart);
  bucket.take(650, kStart);
  EXPECT_EQ(bucket.overdrawn(kStart), 50);
  EXPECT_EQ(bucket.wait_s(kStart), 6) << "after five seconds it is at zero";
  EXPECT_FALSE(bucket.is_open(kStart + seconds(5)));
  EXPECT_TRUE(bucket.is_open(kStart + milliseconds(5001)));
}

TEST(TokenBucket, NeverHoldsMoreThanAMinutesWorth) {
  TokenBucket bucket(600, kStart);
  const auto later = kStart + std::chrono::hours(24 * 365);
  bucket.take(0, later);
  bucket.take(600, later);
  EXPECT_FALSE(bucket.is_open(later));
}

TEST(TokenBucket, LosesNothingToManySmallSteps) {
  TokenBucket bucket(1, kStart);
  bucket.take(2, kStart);  // one minute to zero
  for (int ms = 0; ms <= 60'000; ++ms) EXPECT_FALSE(bucket.is_open(kStart + milliseconds(ms))) << ms;
  EXPECT_TRUE(bucket.is_open(kStart + milliseconds(60'001)));
}

TEST(TokenBucket, StepsShorterThanAMillisecondAddUp) {
  TokenBucket bucket(600, kStart);
  bucket.take(600, kStart);
  auto now = kStart;
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(bucket.is_open(now += std::chrono::microseconds(100)));
  EXPECT_TRUE(bucket.is_open(now + std::chrono::microseconds(100)));
}

TEST(TokenBucket, AClockThatStandsStillOrIsOldChangesNothing) {
  TokenBucket bucket(600, kStart);
  bucket.take(601, kStart);
  EXPECT_FALSE(bucket.is_open(kStart - seconds(10)));
  EXPECT_EQ(bucket.overdrawn(kStart), 1);
}

// For every size and debt: open after wait_s and not a second before, or one second is told.
TEST(TokenBucket, TheWaitIsLongEnoughAndNoLonger) {
  for (const int64_t per_minute : {int64_t{1}, int64_t{7}, int64_t{60}, int64_t{1000}, int64_t{1'000'000'000}}) {
    for (const int64_t debt : {int64_t{0}, int64_t{1}, int64_t{59}, int64_t{12'345}, int64_t{100'000'000}}) {
      TokenBucket bucket(per_minute, kStart);
      bucket.take(per_minute + debt, kStart);
      const int64_t wait_s = bucket.wait_s(kStart);
      TokenBucket early = bucket;
      EXPECT_FALSE(early.is_open(kStart + seconds(wait_s - 1))) << per_minute << " " << debt;
      EXPECT_TRUE(bucket.is_open(kStart + seconds(wait_s))) << per_minute << " " << debt;
    }
  }
}

ApiKey limited_key() {
  ApiKey key;
  key.name = "alice";
  return key;
}

// A7: limits of a key are exact, and refuse instead of letting wait.
TEST(QuotaLedger, AnswersOpenAtOnceAreBounded) {
  ApiKey key = limited_key();
  key.max_requests = 3;
  QuotaLedger ledger;
  EXPECT_FALSE(ledger.check(&key, 3, 1, kStart));
  ledger.open(&key, 2, kStart);
  EXPECT_FALSE(ledger.check(&key, 1, 1, kStart));
  const auto refusal = ledger.check(&key, 2, 9, kStart);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->message, "requests of key 'alice': expected at most 3 at once, found 2 beside 2 open ones");
  EXPECT_EQ(refusal->retry_after_s, 5) << "one of two answers of nine seconds ends in about five";
  ledger.close(&key, 1);
  EXPECT_FALSE(ledger.check(&key, 2, 9, kStart));
  EXPECT_EQ(ledger.n_open(&key), 1);
  EXPECT_EQ(ledger.n_refused(), 1);
}

TEST(QuotaTicket, CountsFromItsBeginningToItsEnd) {
  ApiKey key = limited_key();
  key.max_requests = 3;
  QuotaLedger ledger;
  {
    QuotaTicket ticket(ledger, &key, kStart);
    EXPECT_EQ(ledger.n_open(&key), 1);
    EXPECT_FALSE(ledger.check(&key, 3, 1, kStart, ticket.n_open())) << "what it holds isn't beside it";
    EXPECT_TRUE(ledger.check(&key, 3, 1, kStart));
    ticket.resize(3, kStart);
    EXPECT_EQ(ledger.n_open(&key), 3);
    ticket.resize(2, kStart);
    EXPECT_EQ(ledger.n_open(&key), 2);
  }
  EXPECT_EQ(ledger.n_open(&key), 0);
}

TEST(QuotaLedger, TokensAMinuteAreBounded) {
  ApiKey key = limited_key();
  key.tokens_per_minute = 60;
  QuotaLedger ledger;
  EXPECT_FALSE(ledger.check(&key, 1, 1, kStart));
  ledger.charge(&key, 50, kStart);
  EXPECT_FALSE(ledger.check(&key, 1, 1, kStart)) << "ten are left";
  ledger.charge(&key, 40, kStart);
  const auto refusal = ledger.check(&key, 1, 1, kStart);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->message, "tokens of key 'alice': expected at most 60 a minute, found 30 more; wait 31 s");
  EXPECT_EQ(refusal->retry_after_s, 31);
  EXPECT_FALSE(ledger.check(&key, 1, 1, kStart + seconds(31)));
}

TEST(QuotaLedger, KeysDontCountForEachOther) {
  ApiKey one = limited_key();
  one.max_requests = 1;
  one.tokens_per_minute = 1;
  ApiKey two = one;
  QuotaLedger ledger;
  ledger.open(&one, 1, kStart);
  ledger.charge(&one, 1'000'000, kStart);
  EXPECT_TRUE(ledger.check(&one, 1, 1, kStart));
  EXPECT_FALSE(ledger.check(&two, 1, 1, kStart));
}

TEST(QuotaLedger, WithoutAKeyOrALimitNothingIsRefused) {
  const ApiKey free_key = limited_key();
  QuotaLedger ledger;
  for (const ApiKey* key : {static_cast<const ApiKey*>(nullptr), &free_key}) {
    ledger.open(key, 1'000'000, kStart);
    ledger.charge(key, 1'000'000'000, kStart);
    EXPECT_FALSE(ledger.check(key, 1'000'000, 1, kStart));
  }
  EXPECT_EQ(ledger.n_refused(), 0);
}

}  // namespace
}  // namespace ferrox
