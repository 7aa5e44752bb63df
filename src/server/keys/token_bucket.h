// May more tokens be asked for? A bucket that holds a minute's worth and fills at an even pace.
#pragma once

#include <chrono>
#include <cstdint>

namespace ferrox {

/// What is taken out is known only afterwards, so the level may go below zero: until it is above again, nothing may be
/// asked for. Exact: it counts in sixty-thousandths of a token, what one token a minute is in a millisecond.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Full at `now`. `tokens_per_minute`: from 1 to 10^9.
  TokenBucket(int64_t tokens_per_minute, Time now) : per_minute_(tokens_per_minute), level_(capacity()), filled_(now) {}

  void take(int64_t n_tokens, Time now);

  /// Whether more may be asked for: the level is above zero.
  bool is_open(Time now);

  /// Whole tokens below zero, rounded up; 0: none.
  int64_t overdrawn(Time now);

  /// After this many whole seconds, at least one, it is open, if nothing is taken meanwhile.
  int64_t wait_s(Time now);

 private:
  static constexpr int64_t kUnits = 60'000;  // of one token

  int64_t capacity() const { return per_minute_ * kUnits; }
  void fill(Time now);

  int64_t per_minute_;
  int64_t level_;  ///< in units
  Time filled_;    ///< up to when, in whole milliseconds from the start
};

}  // namespace ferrox
