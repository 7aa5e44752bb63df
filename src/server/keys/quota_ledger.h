// Does a key ask for more than it may? Answers open at once, and tokens a minute, of every key.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "server/keys/api_key.h"
#include "server/keys/token_bucket.h"

namespace ferrox {

/// A refusal that passes with time.
struct QuotaRefusal {
  std::string message;    ///< with the numbers
  int64_t retry_after_s;  ///< when it may be otherwise; at least 1
};

/// Books only: who opens answers closes them. Time is passed in. One thread's. Without a key (nullptr) nothing is
/// counted and nothing refused.
class QuotaLedger {
 public:
  using Time = TokenBucket::Time;

  /// Whether `n_answers` may be opened in place of `n_held` that are open. `answer_s`: how long one takes, in seconds,
  /// as far as is known.
  std::optional<QuotaRefusal> check(const ApiKey* key, int64_t n_answers, double answer_s, Time now,
                                    int64_t n_held = 0);

  void open(const ApiKey* key, int64_t n_answers, Time now);
  void close(const ApiKey* key, int64_t n_answers);
  void charge(const ApiKey* key, int64_t n_tokens, Time now);

  int64_t n_open(const ApiKey* key) const;
  int64_t n_refused() const { return n_refused_; }

 private:
  struct Account {
    int64_t n_open = 0;
    std::optional<TokenBucket> bucket;  ///< of a key with a limit of tokens
  };

  Account& account(const ApiKey& key, Time now);

  std::unordered_map<const ApiKey*, Account> accounts_;
  int64_t n_refused_ = 0;
};

/// What one request has open: one answer from when it was let in, as many as it asks for once that is known.
class QuotaTicket {
 public:
  /// Opens one answer. `ledger` and `key` outlive the ticket.
  QuotaTicket(QuotaLedger& ledger, const ApiKey* key, QuotaLedger::Time now) : ledger_(ledger), key_(key) {
    resize(1, now);
  }
  ~QuotaTicket() { ledger_.close(key_, n_open_); }
  QuotaTicket(const QuotaTicket&) = delete;
  QuotaTicket& operator=(const QuotaTicket&) = delete;

  int64_t n_open() const { return n_open_; }

  /// Opens or closes answers until n are open.
  void resize(int64_t n, QuotaLedger::Time now);

 private:
  QuotaLedger& ledger_;
  const ApiKey* const key_;
  int64_t n_open_ = 0;
};

}  // namespace ferrox
