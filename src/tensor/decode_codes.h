// How do a block's codes and scales become floats? One definition for every format that has codes, so that what a
// product multiplies is what decode shows. Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include "tensor/format_traits.h"

namespace ferrox {
namespace {

/// out[n] = scale * (codes[n] - zero) - min for the n weights of a sub-block.
inline void decode_sub_block(const uint8_t* codes, int n, int zero, float scale, float min, float* out) {
  for (int i = 0; i < n; ++i) out[i] = scale * static_cast<float>(codes[i] - zero) - min;
}

/// The same without a min: x - 0 would make a positive zero of a negative one.
inline void decode_sub_block(const uint8_t* codes, int n, int zero, float scale, float* out) {
  for (int i = 0; i < n; ++i) out[i] = scale * static_cast<float>(codes[i] - zero);
}

/// Decodes one block of a format with real scales.
template <class Format>
void decode_real(const uint8_t* block, float* out) {
  uint8_t codes[Format::kBlock];
  RealScales scales;
  Format::unpack(block, codes, scales);
  for (int i = 0; i < Format::kBlock / Format::kSub; ++i) {
    const int at = i * Format::kSub;
    if constexpr (Format::kHasMin) {
      decode_sub_block(codes + at, Format::kSub, Format::kZero, scales.scale[i], scales.min[i], out + at);
    } else {
      decode_sub_block(codes + at, Format::kSub, Format::kZero, scales.scale[i], out + at);
    }
  }
}

/// Decodes one block of a format with integer scales: d * scale and dmin * min are rounded first.
template <class Format>
void decode_integer(const uint8_t* block, float* out) {
  uint8_t codes[Format::kBlock];
  IntegerScales scales;
  Format::unpack(block, codes, scales);
  for (int i = 0; i < Format::kBlock / Format::kSub; ++i) {
    const int at = i * Format::kSub;
    const float scale = scales.d * static_cast<float>(scales.scale[i]);
    if constexpr (Format::kHasMin) {
      const float min = scales.dmin * static_cast<float>(scales.min[i]);
      decode_sub_block(codes + at, Format::kSub, Format::kZero, scale, min, out + at);
    } else {
      decode_sub_block(codes + at, Format::kSub, Format::kZero, scale, out + at);
    }
  }
}

}  // namespace
}  // namespace ferrox
