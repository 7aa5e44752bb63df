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

  /// Whether `n_answers` more may be opened. `answer_s`: how long one takes, in seconds, as far as is known.
  std::optional<QuotaRefusal> check(const ApiKey* key, int64_t n_answers, double answer_s, Time now);

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

}  // namespace ferrox
