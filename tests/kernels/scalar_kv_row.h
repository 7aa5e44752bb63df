// How is a row of K or V kept? The statement, number by number, that the instruction sets are judged by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "tensor/dtype.h"

namespace ferrox::testing {

inline constexpr float kLevels[16] = {-0.9735f, -0.7727f, -0.6179f, -0.4869f, -0.3675f, -0.2564f, -0.1505f, -0.0493f,
                                      0.0493f,  0.1505f,  0.2564f,  0.3675f,  0.4869f,  0.6179f,  0.7727f,  0.9735f};

/// x times a Hadamard matrix of the largest power of two that divides its length, run by run.
inline std::vector<float> rotated(std::vector<float> x) {
  size_t size = 1;
  while (x.size() % (size * 2) == 0) size *= 2;
  for (size_t half = 1; half < size; half *= 2) {
    for (size_t i = 0; i < x.size(); ++i) {
      if ((i / half) % 2 != 0) continue;
      const float a = x[i];
      const float b = x[i + half];
      x[i] = a + b;
      x[i + half] = a - b;
    }
  }
  const float scale = 1.0f / std::sqrt(static_cast<float>(size));
  for (float& value : x) value *= scale;
  return x;
}

/// The scale as it is kept, and its inverse.
struct KeptScale {
  uint16_t bits;
  float inverse;
};
inline KeptScale kept_scale(float d) {
  const uint16_t bits = float_to_half(d);
  const float kept = half_to_float(bits);
  return {bits, kept != 0.0f ? 1.0f / kept : 0.0f};
}

inline void append_nibbles(const std::vector<int>& codes, std::vector<std::byte>& out) {
  for (size_t i = 0; i < 16; ++i) out.push_back(static_cast<std::byte>(codes[i] | codes[i + 16] << 4));
}

inline void append_block(const float* x, DType dtype, std::vector<std::byte>& out) {
  float top = 0.0f;
  float extreme = 0.0f;  // the first number of largest magnitude
  for (int i = 0; i < 32; ++i) {
    if (std::abs(x[i]) > top) extreme = x[i];
    top = std::max(top, std::abs(x[i]));
  }
  const float d = dtype == DType::kQ8_0 ? top / 127.0f : dtype == DType::kQ4_0 ? extreme / -8.0f : top;
  const KeptScale scale = kept_scale(d);
  out.push_back(static_cast<std::byte>(scale.bits & 0xff));
  out.push_back(static_cast<std::byte>(scale.bits >> 8));
  std::vector<int> codes;
  for (int i = 0; i < 32; ++i) {
    const float scaled = x[i] * scale.inverse;
    if (dtype == DType::kTurbo4) {
      int nearest = 0;
      for (int level = 1; level < 16; ++level) {
        if (scaled > (kLevels[level - 1] + kLevels[level]) * 0.5f) nearest = level;
      }
      codes.push_back(nearest);
    } else {
      const float limit = dtype == DType::kQ8_0 ? 127.0f : 7.0f;
      const float lowest = dtype == DType::kQ8_0 ? -127.0f : -8.0f;
      codes.push_back(static_cast<int>(std::nearbyint(std::clamp(scaled, lowest, limit))));
    }
  }
  if (dtype == DType::kQ8_0) {
    for (const int code : codes) out.push_back(static_cast<std::byte>(code));
    return;
  }
  if (dtype == DType::kQ4_0) {
    for (int& code : codes) code += 8;
  }
  append_nibbles(codes, out);
}

/// q8_0, q4_0 or turbo4.
inline std::vector<std::byte> scalar_store_row(const std::vector<float>& x, DType dtype) {
  const std::vector<float> row = dtype == DType::kTurbo4 ? rotated(x) : x;
  std::vector<std::byte> out;
  for (size_t i = 0; i < row.size(); i += 32) append_block(row.data() + i, dtype, out);
  return out;
}

/// A turbo4 row comes back rotated.
inline std::vector<float> scalar_load_row(const std::vector<std::byte>& bytes, int64_t n, DType dtype) {
  const size_t block_bytes = dtype == DType::kQ8_0 ? 34 : 18;
  std::vector<float> out;
  for (size_t block = 0; out.size() < static_cast<size_t>(n); ++block) {
    const std::byte* at = bytes.data() + block * block_bytes;
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    const float d = half_to_float(bits);
    for (int i = 0; i < 32; ++i) {
      if (dtype == DType::kQ8_0) {
        out.push_back(d * static_cast<float>(static_cast<int8_t>(at[2 + i])));
        continue;
      }
      const int code = std::to_integer<int>(at[2 + i % 16]) >> (i < 16 ? 0 : 4) & 15;
      out.push_back(dtype == DType::kQ4_0 ? d * static_cast<float>(code - 8) : d * kLevels[code]);
    }
  }
  return out;
}

}  // namespace ferrox::testing
