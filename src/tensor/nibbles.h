// How do packed 4-bit codes become bytes? The low nibbles of a run stand for its first half, the high ones for its
// second. Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include <cstdint>

#if defined(__SSSE3__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ferrox {
namespace {

/// Splits n packed bytes: the low nibbles go to codes[0, n), the high ones to codes[n, 2n).
inline void split_nibbles(const uint8_t* __restrict packed, int n, uint8_t* __restrict codes) {
  for (int i = 0; i < n; ++i) {
    codes[i] = packed[i] & 15;
    codes[n + i] = packed[i] >> 4;
  }
}

/// codes[16] of 16 nibble values, each replaced by its entry of the table, in place.
inline void look_up_16(const uint8_t (&table)[16], uint8_t* codes) {
#if defined(__SSSE3__)
  const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  const __m128i indices = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(codes), _mm_shuffle_epi8(entries, indices));
#elif defined(__aarch64__)
  vst1q_u8(codes, vqtbl1q_u8(vld1q_u8(table), vld1q_u8(codes)));
#else
  for (int i = 0; i < 16; ++i) codes[i] = table[codes[i]];
#endif
}

}  // namespace
}  // namespace ferrox
