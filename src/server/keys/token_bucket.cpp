// How does a bucket fill?
#include "server/keys/token_bucket.h"

#include <algorithm>

namespace ferrox {

void TokenBucket::fill(Time now) {
  const auto passed = std::chrono::floor<std::chrono::milliseconds>(now - filled_);
  if (passed.count() <= 0) return;
  filled_ += passed;
  const int64_t missing = capacity() - level_;
  // Compared by division: the product could be more than an integer holds.
  level_ = passed.count() >= missing / per_minute_ + 1 ? capacity() : level_ + passed.count() * per_minute_;
  level_ = std::min(level_, capacity());
}

void TokenBucket::take(int64_t n_tokens, Time now) {
  fill(now);
  level_ -= n_tokens * kUnits;
}

bool TokenBucket::is_open(Time now) {
  fill(now);
  return level_ > 0;
}

int64_t TokenBucket::overdrawn(Time now) {
  fill(now);
  return level_ >= 0 ? 0 : (-level_ + kUnits - 1) / kUnits;
}

int64_t TokenBucket::wait_s(Time now) {
  fill(now);
  const int64_t units_a_second = per_minute_ * 1000;
  return level_ > 0 ? 1 : -level_ / units_a_second + 1;
}

}  // namespace ferrox
