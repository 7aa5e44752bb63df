// How do the twelve bytes of Q4_K and Q5_K hold eight scales and eight mins of six bits?
//   bytes 0-3: scales 0-3, above them the upper two bits of scales 4-7
//   bytes 4-7: mins 0-3, above them the upper two bits of mins 4-7
//   bytes 8-11: low nibbles of scales 4-7, above them those of mins 4-7
// Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include "tensor/format_traits.h"

namespace ferrox {
namespace {

/// Fills scale[0..7] and min[0..7].
inline void unpack_six_bit_scales(const uint8_t* packed, IntegerScales& scales) {
  for (int i = 0; i < 4; ++i) {
    scales.scale[i] = packed[i] & 63;
    scales.min[i] = packed[4 + i] & 63;
    scales.scale[4 + i] = static_cast<int16_t>((packed[8 + i] & 15) | packed[i] >> 6 << 4);
    scales.min[4 + i] = static_cast<int16_t>(packed[8 + i] >> 4 | packed[4 + i] >> 6 << 4);
  }
}

}  // namespace
}  // namespace ferrox
