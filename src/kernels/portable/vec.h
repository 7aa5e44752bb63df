// Sixteen lanes without any instruction set: the compiler's vector types, lane by lane where it has no word for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.h"

namespace ferrox {
namespace {

typedef float F __attribute__((vector_size(64)));
typedef int32_t I __attribute__((vector_size(64)));
typedef uint8_t W __attribute__((vector_size(64)));  // 16 groups of 4 codes

inline F zero_f() { return F{}; }
inline F set1_f(float x) { return F{} + x; }
inline F load_f(const float* p) {
  F v;
  __builtin_memcpy(&v, p, 64);
  return v;
}
inline void store_f(float* p, F v) { __builtin_memcpy(p, &v, 64); }
inline F load_f_n(const float* p, int n) {
  F v{};
  __builtin_memcpy(&v, p, static_cast<size_t>(n) * 4);
  return v;
}
inline void store_f_n(float* p, F v, int n) { __builtin_memcpy(p, &v, static_cast<size_t>(n) * 4); }
inline F add(F a, F b) { return a + b; }
inline F sub(F a, F b) { return a - b; }
inline F mul(F a, F b) { return a * b; }
inline F div(F a, F b) { return a / b; }
inline F fma(F a, F b, F c) {
  for (int i = 0; i < 16; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
}
inline F fnma(F a, F b, F c) { return fma(-a, b, c); }
inline F max_f(F a, F b) { return a > b ? a : b; }
inline F min_f(F a, F b) { return a < b ? a : b; }
inline F select_less(F a, F b, F yes, F no) { return a < b ? yes : no; }
inline F scale_pow2(F v, float pow2, float /*exponent*/) { return v * pow2; }
inline float hsum(F v) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) v[i] += v[i + width];
  }
  return v[0];
}
inline float hmax(F v) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) v[i] = v[i] > v[i + width] ? v[i] : v[i + width];
  }
  return v[0];
}

inline I zero_i() { return I{}; }
inline I set1_i(int32_t x) { return I{} + x; }
inline I load_i(const int32_t* p) {
  I v;
  __builtin_memcpy(&v, p, 64);
  return v;
}
inline void store_i(int32_t* p, I v) { __builtin_memcpy(p, &v, 64); }
inline I add_i(I a, I b) { return a + b; }
inline I mul_i(I a, I b) { return a * b; }
template <int kBits>
inline I shift_left(I a) {
  return a << kBits;
}
template <int kBits>
inline I shift_right(I a) {
  return a >> kBits;
}
inline F to_float(I v) { return __builtin_convertvector(v, F); }
/// Nearest integer, ties to even, for |v| < 2^22: the bits that adding 1.5 * 2^23 leaves in the mantissa.
inline I round_to_int(F v) {
  const F shifted = v + 12582912.0f;
  I bits;
  __builtin_memcpy(&bits, &shifted, 64);
  return bits - 0x4B400000;
}
inline F bits_to_float(I v) {
  F f;
  __builtin_memcpy(&f, &v, 64);
  return f;
}
inline F and_bits(F v, I mask) {
  I bits;
  __builtin_memcpy(&bits, &v, 64);
  return bits_to_float(bits & mask);
}

template <bool kWide>
inline W load_w(const uint8_t* p) {
  W w;
  __builtin_memcpy(&w, p, 64);
  return w;
}
/// acc + the four products of each lane's codes with the four bytes of x.
template <bool kWide>
inline I dot4(I acc, W w, int32_t x) {
  int8_t q[4];
  __builtin_memcpy(q, &x, 4);
  for (int i = 0; i < 16; ++i) {
    acc[i] += w[4 * i] * q[0] + w[4 * i + 1] * q[1] + w[4 * i + 2] * q[2] + w[4 * i + 3] * q[3];
  }
  return acc;
}
/// What a lane's sum starts at, so that it ends as the sum of (code - zero) * q.
template <int kZero, bool kWide>
inline I initial_sum(int32_t neg_sum) {
  return set1_i(neg_sum * kZero);
}
/// acc + the two products of each lane's 16-bit pair with the pair in x.
inline I madd16(I acc, I pairs, int32_t x) {
  int16_t q[2];
  __builtin_memcpy(q, &x, 4);
  for (int i = 0; i < 16; ++i) {
    acc[i] += static_cast<int16_t>(pairs[i] & 0xffff) * q[0] + static_cast<int16_t>(pairs[i] >> 16) * q[1];
  }
  return acc;
}
/// dst[i][row] = src[row][i] for 16 rows of 16 dwords; src rows are stride bytes apart, dst rows 64.
inline void transpose16(const uint8_t* src, int64_t stride, uint8_t* dst) {
  for (int row = 0; row < 16; ++row) {
    for (int i = 0; i < 16; ++i) __builtin_memcpy(dst + i * 64 + row * 4, src + row * stride + i * 4, 4);
  }
}

inline F load_half(const uint8_t* p) {
  F v;
  for (int i = 0; i < 16; ++i) {
    uint16_t half;
    __builtin_memcpy(&half, p + 2 * i, 2);
    v[i] = half_to_float(half);
  }
  return v;
}
inline void store_half(uint8_t* p, F v) {
  for (int i = 0; i < 16; ++i) {
    const uint16_t half = float_to_half(v[i]);
    __builtin_memcpy(p + 2 * i, &half, 2);
  }
}
inline F load_bf16(const uint8_t* p) {
  F v;
  for (int i = 0; i < 16; ++i) {
    uint16_t bf16;
    __builtin_memcpy(&bf16, p + 2 * i, 2);
    v[i] = bf16_to_float(bf16);
  }
  return v;
}

inline bool isa_supported() { return true; }

}  // namespace
}  // namespace ferrox
