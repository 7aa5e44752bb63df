// Which numbers stand in a refusal, and when may one come back?
#include "server/keys/quota_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ferrox {
namespace {

constexpr double kLongestWaitS = 60;

/// Of n_open answers that take answer_s each, one ends in about this many seconds.
int64_t wait_for_one(int64_t n_open, double answer_s) {
  const double wait_s = std::ceil(answer_s / static_cast<double>(std::max<int64_t>(n_open, 1)));
  return static_cast<int64_t>(std::clamp(wait_s, 1.0, kLongestWaitS));
}

}  // namespace

QuotaLedger::Account& QuotaLedger::account(const ApiKey& key, Time now) {
  const auto [place, is_new] = accounts_.try_emplace(&key);
  if (is_new && key.tokens_per_minute) place->second.bucket.emplace(*key.tokens_per_minute, now);
  return place->second;
}

std::optional<QuotaRefusal> QuotaLedger::check(const ApiKey* key, int64_t n_answers, double answer_s, Time now,
                                               int64_t n_held) {
  if (key == nullptr) return std::nullopt;
  Account& books = account(*key, now);
  const int64_t n_others = books.n_open - n_held;
  std::optional<QuotaRefusal> refusal;
  if (key->max_requests && n_others + n_answers > *key->max_requests) {
    refusal = {fmt::format("requests of key '{}': expected at most {} at once, found {} beside {} open ones", key->name,
                           *key->max_requests, n_answers, n_others),
               wait_for_one(n_others, answer_s)};
  } else if (books.bucket && !books.bucket->is_open(now)) {
    const int64_t wait_s = books.bucket->wait_s(now);
    refusal = {fmt::format("tokens of key '{}': expected at most {} a minute, found {} more; wait {} s", key->name,
                           *key->tokens_per_minute, books.bucket->overdrawn(now), wait_s),
               wait_s};
  }
  if (refusal) ++n_refused_;
  return refusal;
}

void QuotaLedger::open(const ApiKey* key, int64_t n_answers, Time now) {
  if (key != nullptr) account(*key, now).n_open += n_answers;
}

void QuotaLedger::close(const ApiKey* key, int64_t n_answers) {
  if (const auto found = accounts_.find(key); found != accounts_.end()) found->second.n_open -= n_answers;
}

void QuotaLedger::charge(const ApiKey* key, int64_t n_tokens, Time now) {
  if (key == nullptr) return;
  if (Account& books = account(*key, now); books.bucket) books.bucket->take(n_tokens, now);
}

void QuotaTicket::resize(int64_t n, QuotaLedger::Time now) {
  if (n > n_open_) ledger_.open(key_, n - n_open_, now);
  if (n < n_open_) ledger_.close(key_, n_open_ - n);
  n_open_ = n;
}

int64_t QuotaLedger::n_open(const ApiKey* key) const {
  const auto found = accounts_.find(key);
  return found == accounts_.end() ? 0 : found->second.n_open;
}

}  // namespace ferrox
