// What int8 blocks does one row of activations become? The definition, one element at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/kernel_table.h"

namespace ferrox::testing {

/// NaN counts as larger than everything.
inline float largest_magnitude(const float* x, int64_t n) {
  float top = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return std::numeric_limits<float>::quiet_NaN();
    top = std::max(top, std::abs(x[i]));
  }
  return top;
}

/// The least shift in [0, 8] whose 2^(shift - 8) * top still reaches `max`.
inline int least_shift(float max, float top) {
  int shift = 0;
  while (std::ldexp(double{top}, shift - 8) < max) ++shift;
  return shift;
}

inline void fill_sums(ActBlock& block) {
  for (int i = 0; i < 16; ++i) {
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum += block.q[16 * i + k];
    block.sum16[i] = static_cast<int16_t>(sum);
  }
  for (int i = 0; i < 8; ++i) {
    block.sum32[i] = static_cast<int16_t>(block.sum16[2 * i] + block.sum16[2 * i + 1]);
  }
}

/// n activations, 1 to 256; what is missing counts as zero.
inline ActBlock scalar_block(const float* x, int64_t n, ActKind kind) {
  ActBlock block{};
  const float top = largest_magnitude(x, n);
  const bool has_codes = top >= 1e-30f && std::isfinite(top);
  const int max_shift = kind == ActKind::kInt8Pow2 ? 8 : 0;
  block.d = top < 1e-30f         ? 0.0f
            : std::isfinite(top) ? std::ldexp(top / 127.0f, -max_shift)
                                 : std::numeric_limits<float>::quiet_NaN();
  for (int j = 0; j < 8; ++j) {
    const int64_t left = std::clamp<int64_t>(n - 32 * j, 0, 32);
    int shift = max_shift;
    if (max_shift > 0 && has_codes && left > 0) shift = least_shift(largest_magnitude(x + 32 * j, left), top);
    block.shift[j] = static_cast<uint8_t>(shift);
    const auto inverse = has_codes ? static_cast<float>(std::ldexp(127.0f / top, max_shift - shift)) : 0.0f;
    for (int i = 0; i < left; ++i) {
      block.q[32 * j + i] = has_codes ? static_cast<int8_t>(std::nearbyint(x[32 * j + i] * inverse)) : int8_t{0};
    }
  }
  fill_sums(block);
  return block;
}

/// The ceil(n / 256) blocks of one row.
inline std::vector<ActBlock> scalar_quantize(const float* x, int64_t n, ActKind kind) {
  std::vector<ActBlock> blocks;
  for (int64_t i = 0; i < n; i += kKBlock) {
    blocks.push_back(scalar_block(x + i, std::min<int64_t>(kKBlock, n - i), kind));
  }
  return blocks;
}

}  // namespace ferrox::testing
