#include "loadgen/arrivals.h"

#include <cmath>

#include "loadgen/random.h"

namespace ferrox {
namespace {

/// A stream of its own: other arrivals change no prompt.
constexpr uint64_t kArrivalStream = ~uint64_t{0};

}  // namespace

std::vector<double> arrival_times_s(const ArrivalOptions& options, size_t n) {
  LoadRandom random(options.seed, kArrivalStream);
  std::vector<double> times;
  times.reserve(n);
  double now_s = 0;
  for (size_t i = 0; i < n; ++i) {
    if (options.kind == ArrivalKind::kConstant) {
      now_s = static_cast<double>(i) / options.rate;
    } else {
      now_s -= std::log1p(-random.uniform()) / options.rate;
    }
    times.push_back(now_s);
  }
  return times;
}

}  // namespace ferrox
