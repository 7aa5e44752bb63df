// What is the highest of a few floats, fast enough to skip most of a row of logits by it?
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace ferrox {

/// Floats of a row whose maximum is looked at before they are.
inline constexpr size_t kScanBlock = 256;

/// The highest of values[0..n), -infinity of none; NaN is passed over. Lanes, since one chain of maxima waits
/// four cycles for each value.
inline float block_max(const float* values, size_t n) {
  constexpr size_t kLanes = 32;  // so many that compilers make vectors of them, not scalars
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = values[i + lane];
      lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    }
  }
  for (; i < n; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] = std::max(lanes[lane], lanes[lane + half]);
  }
  return lanes[0];
}

}  // namespace ferrox
