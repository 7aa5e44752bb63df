#include "sched/fair_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/check.h"

namespace ferrox {

void FairShare::wait(const Caller& caller, int32_t n) {
  CHECK(caller.weight > 0, "a share is more than nothing");
  const double least = least_had();
  Account& account = accounts_[caller.name];
  account.weight = caller.weight;
  if (account.had() < least && !account.is_active()) account.n_had = std::llround(least * account.weight);
  account.n_waiting += n;
}

void FairShare::leave(const std::string& caller, int32_t n) {
  Account& account = accounts_.at(caller);
  CHECK(account.n_waiting >= n, "only what waits leaves");
  account.n_waiting -= n;
  if (!account.is_active()) forget_idle();
}

void FairShare::start(const std::string& caller, int32_t n, int64_t n_tokens) {
  Account& account = accounts_.at(caller);
  CHECK(account.n_waiting >= n, "only what waits starts");
  account.n_waiting -= n;
  account.n_running += n;
  account.n_paid += n_tokens;
}

void FairShare::stop(const std::string& caller, int64_t n_tokens, int64_t n_unused) {
  Account& account = accounts_.at(caller);
  CHECK(account.n_running > 0, "only what runs stops");
  --account.n_running;
  account.n_paid -= n_tokens;
  account.n_had += n_tokens - n_unused;
  if (!account.is_active()) forget_idle();
}

bool FairShare::goes_before(const std::string& caller, const std::string& other) const {
  const Account& one = accounts_.at(caller);
  const Account& two = accounts_.at(other);
  return std::tuple(one.had_and_paid(), one.n_running) < std::tuple(two.had_and_paid(), two.n_running);
}

/// Of those that take part; 0 when nobody does.
double FairShare::least_had() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [name, account] : accounts_) {
    if (account.is_active()) least = std::min(least, account.had());
  }
  return least == std::numeric_limits<double>::infinity() ? 0 : least;
}

/// Those whose account says nothing: they would take part again with as much as whoever had least.
void FairShare::forget_idle() {
  const bool somebody_is_active =
      std::ranges::any_of(accounts_, [](const auto& entry) { return entry.second.is_active(); });
  const double least = least_had();
  std::erase_if(accounts_, [&](const auto& entry) {
    const Account& account = entry.second;
    return !account.is_active() && (!somebody_is_active || account.had() <= least);
  });
}

}  // namespace ferrox
