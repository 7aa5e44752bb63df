// Which weights can a test make in any format? Random bytes, kept where they decode to numbers of a sane size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

#include "tensor/format.h"

namespace ferrox::testing {

/// Largest magnitude of a block, infinite when any weight isn't a number.
inline float block_top(const FormatInfo& format, const std::byte* block) {
  float weights[256];
  format.decode(block, weights, format.block_elements);
  float top = 0.0f;
  for (int i = 0; i < format.block_elements; ++i) {
    if (!std::isfinite(weights[i])) return HUGE_VALF;
    top = std::max(top, std::abs(weights[i]));
  }
  return top;
}

/// n_blocks blocks whose largest magnitude lies in [top / 64, top]. A format needs no quantiser for it: every byte is
/// drawn, so every code and scale bit takes part. Blocks are drawn from a pool, since most draws are thrown away.
inline std::vector<std::byte> random_blocks(const FormatInfo& format, int64_t n_blocks, float top, uint32_t seed) {
  std::mt19937 rng(seed);
  const auto block_bytes = static_cast<size_t>(format.block_bytes);
  const auto pool_size = static_cast<size_t>(std::min<int64_t>(n_blocks, std::max(64, 1024 / format.block_elements)));
  std::vector<std::byte> pool(pool_size * block_bytes);
  for (size_t i = 0; i < pool_size; ++i) {
    std::byte* block = pool.data() + i * block_bytes;
    float found = 0.0f;
    do {
      for (size_t j = 0; j < block_bytes; j += 4) {
        const uint32_t word = rng();
        std::memcpy(block + j, &word, std::min<size_t>(4, block_bytes - j));
      }
      found = block_top(format, block);
    } while (!(found >= top / 64 && found <= top));
  }
  std::vector<std::byte> out(static_cast<size_t>(n_blocks) * block_bytes);
  for (size_t i = 0; i < static_cast<size_t>(n_blocks); ++i) {
    const size_t from = i < pool_size ? i : rng() % pool_size;
    std::memcpy(out.data() + i * block_bytes, pool.data() + from * block_bytes, block_bytes);
  }
  return out;
}

/// n floats around 0 of standard deviation `deviation`.
inline std::vector<float> random_floats(int64_t n, float deviation, uint32_t seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& value : out) value = normal(rng);
  return out;
}

}  // namespace ferrox::testing
