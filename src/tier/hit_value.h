// What is an entry worth that was used now and then? A time: that of one use which would be worth as much.
//
// A use at time t is worth 2^((t - now) / half_life) now. The sum of an entry's uses is the worth of one use at the
// time
//   half_life * log2(sum of 2^(t / half_life))
// which doesn't change while nothing is used: entries stay in order by themselves, and a file's time stamp can hold it.
#pragma once

#include <algorithm>
#include <cmath>

namespace ferrox {

/// The worth of an entry of worth `worth_s` that is used once more at now_s. Seconds; half_life_s > 0.
inline double used_once_more(double worth_s, double now_s, double half_life_s) {
  const double higher = std::max(worth_s, now_s);
  const double lower = std::min(worth_s, now_s);
  return higher + half_life_s * std::log2(1.0 + std::exp2((lower - higher) / half_life_s));
}

}  // namespace ferrox
