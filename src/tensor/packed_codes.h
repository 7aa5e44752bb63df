// How do packed codes of 1, 2 and 4 bits become bytes? Whole words or plain loops at a time, so that every ISA's
// compiler makes vectors of them. Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include <cstdint>

#if defined(__SSSE3__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ferrox {
namespace {

constexpr uint64_t kEachByte = 0x0101010101010101;
constexpr uint64_t kLowNibbles = 0x0f0f0f0f0f0f0f0f;

inline uint64_t load_u64(const uint8_t* p) {
  uint64_t value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

inline void store_u64(uint64_t value, uint8_t* p) { __builtin_memcpy(p, &value, sizeof value); }

/// Splits n packed bytes, a multiple of 8: the low nibbles go to codes[0, n), the high ones to codes[n, 2n).
inline void split_nibbles(const uint8_t* __restrict packed, int n, uint8_t* __restrict codes) {
  for (int i = 0; i < n; i += 8) {
    const uint64_t nibbles = load_u64(packed + i);
    store_u64(nibbles & kLowNibbles, codes + i);
    store_u64(nibbles >> 4 & kLowNibbles, codes + n + i);
  }
}

/// Splits 32 packed bytes: bit pairs k go to codes[32 k, 32 k + 32).
inline void split_bit_pairs(const uint8_t* __restrict packed, uint8_t* __restrict codes) {
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 32; ++i) codes[32 * k + i] = packed[i] >> 2 * k & 3;
  }
}

/// Eight 2-bit fields, one in each byte.
inline uint64_t spread_bit_pairs(uint64_t fields) {
  fields = (fields | fields << 24) & 0x000000ff000000ff;
  fields = (fields | fields << 12) & 0x000f000f000f000f;
  return (fields | fields << 6) & 0x0303030303030303;
}

/// Eight 4-bit fields, one in each byte.
inline uint64_t spread_nibbles(uint64_t fields) {
  fields = (fields | fields << 16) & 0x0000ffff0000ffff;
  fields = (fields | fields << 8) & 0x00ff00ff00ff00ff;
  return (fields | fields << 4) & kLowNibbles;
}

/// Eight bits, the first lowest, as bytes 0x00 and 0xff.
inline uint64_t spread_bits(uint64_t bits) {
  bits |= bits << 8;
  bits |= bits << 16;
  bits |= bits << 32;
  const uint64_t one_each = bits & 0x8040201008040201;
  const uint64_t set = (one_each + 0x7f * kEachByte) >> 7 & kEachByte;
  return (set << 8) - set;
}

/// codes[i] = table[index[i]] for eight indices in `first` and eight in `second`, all below 16.
inline void look_up_16(const uint8_t (&table)[16], uint64_t first, uint64_t second, uint8_t* codes) {
#if defined(__SSSE3__)
  const __m128i indices = _mm_set_epi64x(static_cast<long long>(second), static_cast<long long>(first));
  const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(codes), _mm_shuffle_epi8(entries, indices));
#elif defined(__aarch64__)
  const uint8x16_t indices = vcombine_u8(vcreate_u8(first), vcreate_u8(second));
  vst1q_u8(codes, vqtbl1q_u8(vld1q_u8(table), indices));
#else
  for (int i = 0; i < 8; ++i) {
    codes[i] = table[first >> 8 * i & 15];
    codes[8 + i] = table[second >> 8 * i & 15];
  }
#endif
}

/// As split_nibbles of 16 bytes, each nibble replaced by its entry of the table.
inline void look_up_nibbles(const uint8_t (&table)[16], const uint8_t* packed, uint8_t* codes) {
  const uint64_t first = load_u64(packed);
  const uint64_t second = load_u64(packed + 8);
  look_up_16(table, first & kLowNibbles, second & kLowNibbles, codes);
  look_up_16(table, first >> 4 & kLowNibbles, second >> 4 & kLowNibbles, codes + 16);
}

/// As split_nibbles of 16 bytes, with bit i of fifth_bits as the fifth bit of code i.
inline void split_five_bits(const uint8_t* packed, uint32_t fifth_bits, uint8_t* codes) {
  for (int i = 0; i < 2; ++i) {
    const uint64_t nibbles = load_u64(packed + 8 * i);
    const uint64_t low = spread_bits(fifth_bits >> 8 * i & 255) & kEachByte << 4;
    const uint64_t high = spread_bits(fifth_bits >> (16 + 8 * i) & 255) & kEachByte << 4;
    store_u64((nibbles & kLowNibbles) | low, codes + 8 * i);
    store_u64((nibbles >> 4 & kLowNibbles) | high, codes + 16 + 8 * i);
  }
}

}  // namespace
}  // namespace ferrox
