// How do grid entries and sign bits become codes? Eight bytes in one 64-bit word, without branches, so that a loop over
// the 32 words of a block becomes vector code. Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

/// What a block of 256 weights says about its 32 runs of eight: the grid's entry and eight sign bits, the first lowest.
struct GridRuns {
  uint64_t entry[32];
  uint64_t signs[32];
};

/// The eight signs that seven bits stand for: the last makes the number of minus signs even.
inline uint64_t even_signs(uint64_t seven_bits) {
  uint64_t parity = seven_bits ^ seven_bits >> 4;
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return seven_bits | (parity & 1) << 7;
}

/// Stores zero + magnitude, or zero - magnitude where the sign bit is set. Magnitudes are less than zero, and zero at
/// most 64, so no byte carries into the next.
inline void store_signed(uint64_t magnitudes, uint64_t signs, int zero, uint8_t* codes) {
  const uint64_t negative = magnitudes & spread_bits(signs);
  store_u64(static_cast<uint64_t>(zero) * kEachByte + magnitudes - (negative << 1), codes);
}

}  // namespace
}  // namespace ferrox
