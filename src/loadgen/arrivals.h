// When do requests come in that wait for nobody?
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ferrox {

enum class ArrivalKind {
  kPoisson,   ///< independent users: exponential gaps
  kConstant,  ///< equal gaps
};

struct ArrivalOptions {
  ArrivalKind kind = ArrivalKind::kPoisson;
  double rate = 1;  ///< arrivals a second, above 0
  uint64_t seed = 1;
};

/// `n` times in seconds since the begin, ascending; the first of a constant rate is 0.
std::vector<double> arrival_times_s(const ArrivalOptions& options, size_t n);

}  // namespace ferrox
