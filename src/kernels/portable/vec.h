// Sixteen lanes without any instruction set: plain arrays, lane by lane. The statement that the others are judged by.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.h"

namespace ferrox {
namespace {

/// Do products take weights apart 16 rows at a time? No: lane by lane it costs more than row by row, and the compiler
/// minutes.
inline constexpr bool kUnpacksLanes = false;
/// Panels and activation rows of a micro-kernel.
inline constexpr int kManyPanels = 1;
inline constexpr int kManyPanelsRows = 4;
inline constexpr int kOnePanelRows = 4;
inline constexpr int64_t kFewestRowsOfManyPanels = INT64_MAX;
/// Activation rows from which on the next rows are asked for between multiplications, not while unpacking: there is
/// more time then.
inline constexpr int64_t kShareRows = 8;
/// Sums that the loops of limits.inl keep in registers.
inline constexpr int kPeakChains = 6;

struct F {
  float v[16];
};
struct I {
  int32_t v[16];
};
/// 16 groups of 4 codes.
struct W {
  uint8_t codes[64];
};

/// A lane-by-lane function of up to three vectors.
template <class To, class Op>
inline To each_lane(const Op& op) {
  To out;
  for (int i = 0; i < 16; ++i) out.v[i] = op(i);
  return out;
}

inline F set1_f(float x) {
  return each_lane<F>([&](int) { return x; });
}
inline F zero_f() { return set1_f(0.0f); }
inline F load_f(const float* p) {
  F f;
  __builtin_memcpy(f.v, p, 64);
  return f;
}
inline void store_f(float* p, F f) { __builtin_memcpy(p, f.v, 64); }
inline F load_f_n(const float* p, int n) {
  F f = zero_f();
  __builtin_memcpy(f.v, p, static_cast<size_t>(n) * 4);
  return f;
}
inline void store_f_n(float* p, F f, int n) { __builtin_memcpy(p, f.v, static_cast<size_t>(n) * 4); }
inline F add(F a, F b) {
  return each_lane<F>([&](int i) { return a.v[i] + b.v[i]; });
}
inline F sub(F a, F b) {
  return each_lane<F>([&](int i) { return a.v[i] - b.v[i]; });
}
inline F mul(F a, F b) {
  return each_lane<F>([&](int i) { return a.v[i] * b.v[i]; });
}
inline F div(F a, F b) {
  return each_lane<F>([&](int i) { return a.v[i] / b.v[i]; });
}
inline F fma(F a, F b, F c) {
  return each_lane<F>([&](int i) { return __builtin_fmaf(a.v[i], b.v[i], c.v[i]); });
}
inline F fnma(F a, F b, F c) {
  return each_lane<F>([&](int i) { return __builtin_fmaf(-a.v[i], b.v[i], c.v[i]); });
}
inline F max_f(F a, F b) {
  return each_lane<F>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline F min_f(F a, F b) {
  return each_lane<F>([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline F select_less(F a, F b, F yes, F no) {
  return each_lane<F>([&](int i) { return a.v[i] < b.v[i] ? yes.v[i] : no.v[i]; });
}
inline float hsum(F f) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) f.v[i] += f.v[i + width];
  }
  return f.v[0];
}
inline float hmax(F f) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) f.v[i] = f.v[i] > f.v[i + width] ? f.v[i] : f.v[i + width];
  }
  return f.v[0];
}

inline I set1_i(int32_t x) {
  return each_lane<I>([&](int) { return x; });
}
inline I zero_i() { return set1_i(0); }
inline I load_i(const int32_t* p) {
  I out;
  __builtin_memcpy(out.v, p, 64);
  return out;
}
inline void store_i(int32_t* p, I a) { __builtin_memcpy(p, a.v, 64); }
inline I add_i(I a, I b) {
  return each_lane<I>([&](int i) { return a.v[i] + b.v[i]; });
}
inline I mul_i(I a, I b) {
  return each_lane<I>([&](int i) { return a.v[i] * b.v[i]; });
}
template <int kBits>
inline I shift_left(I a) {
  return each_lane<I>([&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) << kBits); });
}
template <int kBits>
inline I shift_right(I a) {
  return each_lane<I>([&](int i) { return a.v[i] >> kBits; });
}
/// By 0 to 31 bits.
inline I shift_left_by(I a, int n_bits) {
  return each_lane<I>([&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) << n_bits); });
}
inline I and_i(I a, I b) {
  return each_lane<I>([&](int i) { return a.v[i] & b.v[i]; });
}
inline I or_i(I a, I b) {
  return each_lane<I>([&](int i) { return a.v[i] | b.v[i]; });
}
inline I xor_i(I a, I b) {
  return each_lane<I>([&](int i) { return a.v[i] ^ b.v[i]; });
}
template <int kBits>
inline I shift_right_logical(I a) {
  return each_lane<I>([&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) >> kBits); });
}
/// table[byte] of each byte, all below 16.
inline I look_up_bytes(const uint8_t (&table)[16], I indices) {
  uint8_t bytes[64];
  __builtin_memcpy(bytes, indices.v, 64);
  for (uint8_t& byte : bytes) byte = table[byte];
  __builtin_memcpy(indices.v, bytes, 64);
  return indices;
}
/// The F16 number in each lane's low half.
inline F half_lanes(I a) {
  return each_lane<F>([&](int i) { return half_to_float(static_cast<uint16_t>(a.v[i])); });
}
/// The lanes' low bytes.
inline void store_i8(int8_t* p, I v) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(v.v[i]);
}
/// sums[i] = sum of bytes 16 * i .. 16 * i + 15, for 256 bytes.
inline void sum_each_16(const int8_t* bytes, int16_t* sums) {
  for (int i = 0; i < 16; ++i) {
    int sum = 0;
    for (int j = 0; j < 16; ++j) sum += bytes[16 * i + j];
    sums[i] = static_cast<int16_t>(sum);
  }
}
inline F to_float(I a) {
  return each_lane<F>([&](int i) { return static_cast<float>(a.v[i]); });
}
/// Nearest integer, ties to even, for |v| < 2^22: the bits that adding 1.5 * 2^23 leaves in the mantissa.
inline I round_to_int(F f) {
  const F shifted = add(f, set1_f(12582912.0f));
  I bits;
  __builtin_memcpy(bits.v, shifted.v, 64);
  return each_lane<I>([&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(bits.v[i]) - 0x4B400000u); });
}
inline F bits_to_float(I a) {
  F f;
  __builtin_memcpy(f.v, a.v, 64);
  return f;
}
inline F and_bits(F f, I mask) {
  I bits;
  __builtin_memcpy(bits.v, f.v, 64);
  return bits_to_float(each_lane<I>([&](int i) { return bits.v[i] & mask.v[i]; }));
}

template <bool kWide>
inline W load_w(const uint8_t* p) {
  W w;
  __builtin_memcpy(w.codes, p, 64);
  return w;
}
template <bool kWide>
inline I dot4(I acc, W w, int32_t x) {
  int8_t q[4];
  __builtin_memcpy(q, &x, 4);
  for (int i = 0; i < 16; ++i) {
    const uint8_t* code = w.codes + 4 * i;
    acc.v[i] += code[0] * q[0] + code[1] * q[1] + code[2] * q[2] + code[3] * q[3];
  }
  return acc;
}
/// What a lane's sum starts at, so that it ends as the sum of (code - zero) * q.
template <int kZero, bool kWide>
inline I initial_sum(int32_t q_sum) {
  return set1_i(q_sum * -kZero);
}
/// acc + the two products of each lane's 16-bit pair with the pair in x.
inline I madd16(I acc, I pairs, int32_t x) {
  int16_t q[2];
  __builtin_memcpy(q, &x, 4);
  for (int i = 0; i < 16; ++i) {
    acc.v[i] += static_cast<int16_t>(pairs.v[i] & 0xffff) * q[0] + static_cast<int16_t>(pairs.v[i] >> 16) * q[1];
  }
  return acc;
}
/// out[i] = dword i of the 16 rows, which are stride bytes apart.
inline void load_lanes(const uint8_t* src, int64_t stride, I* out) {
  for (int row = 0; row < 16; ++row) {
    for (int i = 0; i < 16; ++i) __builtin_memcpy(&out[i].v[row], src + row * stride + i * 4, 4);
  }
}

inline void load_lanes8(const uint8_t* src, int64_t stride, I* out) {
  for (int row = 0; row < 16; ++row) {
    for (int i = 0; i < 8; ++i) __builtin_memcpy(&out[i].v[row], src + row * stride + i * 4, 4);
  }
}

inline F load_half(const uint8_t* p) {
  F f;
  for (int i = 0; i < 16; ++i) {
    uint16_t half;
    __builtin_memcpy(&half, p + 2 * i, 2);
    f.v[i] = half_to_float(half);
  }
  return f;
}
inline void store_half(uint8_t* p, F f) {
  for (int i = 0; i < 16; ++i) {
    const uint16_t half = float_to_half(f.v[i]);
    __builtin_memcpy(p + 2 * i, &half, 2);
  }
}
inline F load_bf16(const uint8_t* p) {
  F f;
  for (int i = 0; i < 16; ++i) {
    uint16_t bf16;
    __builtin_memcpy(&bf16, p + 2 * i, 2);
    f.v[i] = bf16_to_float(bf16);
  }
  return f;
}

inline I load_bytes(const uint8_t* p) {
  return each_lane<I>([&](int i) { return int32_t{p[i]}; });
}
inline I load_signed_bytes(const uint8_t* p) {
  return each_lane<I>([&](int i) { return int32_t{static_cast<int8_t>(p[i])}; });
}
/// table[index] of sixteen floats, indices below 16.
inline F lookup16(const float* table, I indices) {
  return each_lane<F>([&](int i) { return table[indices.v[i]]; });
}

/// States of 16 channels that a scan holds in registers.
constexpr int kScannedStates = 4;
/// Vectors of one row that attention weighs at once.
constexpr int kWeighedVectors = 1;

inline bool isa_supported() { return true; }

}  // namespace
}  // namespace ferrox
