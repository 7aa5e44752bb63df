// How much of the engine has each caller had? Who has had least for its weight goes first.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sched/caller.h"

namespace ferrox {

/// Deficit round-robin by tokens, kept as a running account: an answer that starts pays in advance for all the tokens
/// that it may take, and what it didn't take is given back when it stops. Between two callers that both wait, what they
/// had differs by no more than one request of each. Not for several threads.
class FairShare {
 public:
  /// n answers of the caller begin to wait. Who had none that waited or ran takes part from now on as if it had had as
  /// much as whoever had least, without what was paid in advance: nobody saves up while it asks for nothing. The latest
  /// weight holds.
  void wait(const Caller& caller, int32_t n);

  /// n of its answers don't wait any more.
  void leave(const std::string& caller, int32_t n);

  /// n of its answers that waited run now, and pay n_tokens together.
  void start(const std::string& caller, int32_t n, int64_t n_tokens);

  /// One that ran and had paid n_tokens doesn't any more; it left n_unused of them.
  void stop(const std::string& caller, int64_t n_tokens, int64_t n_unused);

  /// Whether a caller's next answer comes before another's: who has had and paid least for its weight, then who runs
  /// least.
  bool goes_before(const std::string& caller, const std::string& other) const;

 private:
  struct Account {
    double weight = 1;
    int64_t n_had = 0;   ///< tokens of answers that have stopped
    int64_t n_paid = 0;  ///< by those that run
    int32_t n_waiting = 0;
    int32_t n_running = 0;

    bool is_active() const { return n_waiting > 0 || n_running > 0; }
    double had() const { return static_cast<double>(n_had) / weight; }
    double had_and_paid() const { return static_cast<double>(n_had + n_paid) / weight; }
  };

  double least_had() const;
  void forget_idle();

  std::unordered_map<std::string, Account> accounts_;
};

}  // namespace ferrox
