// How do grid entries and sign bits become codes? Eight bytes at a time in one 64-bit word, without branches.
// Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include <cstdint>

namespace ferrox {
namespace {

constexpr uint64_t kEachByte = 0x0101010101010101;

/// Eight 2-bit fields, one in each byte.
inline uint64_t spread_2_bits(uint64_t fields) {
  fields = (fields | fields << 24) & 0x000000ff000000ff;
  fields = (fields | fields << 12) & 0x000f000f000f000f;
  return (fields | fields << 6) & 0x0303030303030303;
}

/// Four 4-bit fields and four more, one in each byte.
inline uint64_t spread_4_bits(uint64_t first, uint64_t second) {
  uint64_t fields = first | second << 32;
  fields = (fields | fields << 8) & 0x00ff00ff00ff00ff;
  return (fields | fields << 4) & 0x0f0f0f0f0f0f0f0f;
}

/// Eight sign bits, the first lowest, as bytes 0x00 and 0xff.
inline uint64_t spread_signs(uint64_t signs) {
  const uint64_t one_bit_each = signs * kEachByte & 0x8040201008040201;
  const uint64_t set = (one_bit_each + 0x7f * kEachByte) >> 7 & kEachByte;
  return set * 0xff;
}

/// The eight signs that seven bits stand for: the last makes the number of minus signs even.
inline uint64_t even_signs(uint32_t seven_bits) {
  seven_bits &= 127;
  return seven_bits | static_cast<uint64_t>(__builtin_parity(seven_bits)) << 7;
}

/// Stores zero + magnitude, or zero - magnitude where the sign bit is set. Magnitudes are less than zero, and zero at
/// most 64, so no byte carries into the next.
inline void store_signed(uint64_t magnitudes, uint64_t signs, int zero, uint8_t* codes) {
  const uint64_t negative = magnitudes & spread_signs(signs);
  const uint64_t word = static_cast<uint64_t>(zero) * kEachByte + magnitudes - (negative << 1);
  __builtin_memcpy(codes, &word, sizeof word);
}

}  // namespace
}  // namespace ferrox
