// Sixteen lanes in one AVX-512 register.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/half.h"

/// Products of few activation rows, on top of the common bodies.
#define FERROX_ISA_STREAM "kernels/avx512/stream.inl"

namespace ferrox {
namespace {

/// Do products take weights apart 16 rows at a time?
inline constexpr bool kUnpacksLanes = true;
/// Panels and activation rows of a micro-kernel when there are many: 12 + 12 sums, 2 weights and 1 activation fill 32
/// registers. With one panel, all rows that there are then.
inline constexpr int kManyPanels = 2;
inline constexpr int kManyPanelsRows = 6;
inline constexpr int kOnePanelRows = 7;
/// Activation rows from which on each is loaded once for all panels.
inline constexpr int64_t kFewestRowsOfManyPanels = 8;
/// Activation rows from which on the next rows are asked for between multiplications, not while unpacking: never, since
/// a core can wait for a panel's lines beside its unpacking.
inline constexpr int64_t kShareRows = INT64_MAX;
/// Sums that the loops of limits.inl keep in registers.
inline constexpr int kPeakChains = 12;

using F = __m512;
using I = __m512i;
using W = __m512i;  // 16 groups of 4 codes

inline F zero_f() { return _mm512_setzero_ps(); }
inline F set1_f(float x) { return _mm512_set1_ps(x); }
inline F load_f(const float* p) { return _mm512_loadu_ps(p); }
inline void store_f(float* p, F v) { _mm512_storeu_ps(p, v); }
inline __mmask16 first_lanes(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
inline F load_f_n(const float* p, int n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
inline void store_f_n(float* p, F v, int n) { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
inline F add(F a, F b) { return _mm512_add_ps(a, b); }
inline F sub(F a, F b) { return _mm512_sub_ps(a, b); }
inline F mul(F a, F b) { return _mm512_mul_ps(a, b); }
inline F div(F a, F b) { return _mm512_div_ps(a, b); }
inline F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
inline F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
inline F max_f(F a, F b) { return _mm512_max_ps(a, b); }
inline F min_f(F a, F b) { return _mm512_min_ps(a, b); }
inline F select_less(F a, F b, F yes, F no) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}

inline __m256 upper_half(F v) { return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1)); }
inline float hsum(F v) {
  const __m256 v8 = _mm256_add_ps(_mm512_castps512_ps256(v), upper_half(v));
  const __m128 v4 = _mm_add_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_add_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_add_ss(v2, _mm_shuffle_ps(v2, v2, 1)));
}
inline float hmax(F v) {
  const __m256 v8 = _mm256_max_ps(_mm512_castps512_ps256(v), upper_half(v));
  const __m128 v4 = _mm_max_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_max_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_max_ss(v2, _mm_shuffle_ps(v2, v2, 1)));
}

inline I zero_i() { return _mm512_setzero_si512(); }
inline I set1_i(int32_t x) { return _mm512_set1_epi32(x); }
inline I load_i(const int32_t* p) { return _mm512_loadu_si512(p); }
inline void store_i(int32_t* p, I v) { _mm512_storeu_si512(p, v); }
inline I add_i(I a, I b) { return _mm512_add_epi32(a, b); }
inline I mul_i(I a, I b) { return _mm512_mullo_epi32(a, b); }
template <int kBits>
inline I shift_left(I a) {
  return _mm512_slli_epi32(a, kBits);
}
template <int kBits>
inline I shift_right(I a) {
  return _mm512_srai_epi32(a, kBits);
}
/// By 0 to 31 bits.
inline I shift_left_by(I a, int n_bits) { return _mm512_sllv_epi32(a, _mm512_set1_epi32(n_bits)); }
inline I and_i(I a, I b) { return _mm512_and_si512(a, b); }
inline I or_i(I a, I b) { return _mm512_or_si512(a, b); }
inline I xor_i(I a, I b) { return _mm512_xor_si512(a, b); }
template <int kBits>
inline I shift_right_logical(I a) {
  return _mm512_srli_epi32(a, kBits);
}
/// table[byte] of each byte, all below 16.
inline I look_up_bytes(const uint8_t (&table)[16], I indices) {
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), indices);
}
/// The F16 number in each lane's low half.
inline F half_lanes(I a) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)); }
inline F to_float(I v) { return _mm512_cvtepi32_ps(v); }
inline I round_to_int(F v) { return _mm512_cvtps_epi32(v); }
/// The lanes' low bytes.
inline void store_i8(int8_t* p, I v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v)); }
/// sums[i] = sum of bytes 16 * i .. 16 * i + 15, for 256 bytes. A lane of 128 bits is one sum of four parts.
inline void sum_each_16(const int8_t* bytes, int16_t* sums) {
  I v[4];
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), _mm512_loadu_si512(bytes + 64 * i));
  }
  const I a = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
  const I b = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
  const I lanes = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const I order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), _mm512_cvtepi32_epi16(_mm512_permutexvar_epi32(order, lanes)));
}
inline F bits_to_float(I v) { return _mm512_castsi512_ps(v); }
inline F and_bits(F v, I mask) { return _mm512_and_ps(v, _mm512_castsi512_ps(mask)); }

template <bool kWide>
inline W load_w(const uint8_t* p) {
  return _mm512_loadu_si512(p);
}
template <bool kWide>
inline I dot4(I acc, W w, int32_t x) {
  return _mm512_dpbusd_epi32(acc, w, _mm512_set1_epi32(x));
}
template <int kZero, bool kWide>
inline I initial_sum(int32_t q_sum) {
  return _mm512_set1_epi32(q_sum * -kZero);
}
inline I madd16(I acc, I pairs, int32_t x) { return _mm512_dpwssd_epi32(acc, pairs, _mm512_set1_epi32(x)); }

/// out[i] = dword i of the 16 rows: pairs, then fours, then two rounds of 128-bit lanes.
inline void load_lanes(const uint8_t* src, int64_t stride, I* out) {
  __m512i a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(src + i * stride);
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88);
    b[i + 4] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xdd);
    b[i + 8] = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0x88);
    b[i + 12] = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0x88);
    out[i + 8] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0xdd);
    out[i + 4] = _mm512_shuffle_i32x4(b[i + 4], b[i + 12], 0x88);
    out[i + 12] = _mm512_shuffle_i32x4(b[i + 4], b[i + 12], 0xdd);
  }
}

/// out[i] = dword i of 32 bytes of the 16 rows.
inline void load_lanes8(const uint8_t* src, int64_t stride, I* out) {
  const auto at = [&](int i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i * stride)); };
  __m512i a[8], b[8];
  for (int i = 0; i < 8; ++i) {
    const int row = i / 4 * 8 + i % 4;  // beside row + 4
    a[i] = _mm512_inserti64x4(_mm512_castsi256_si512(at(row)), at(row + 4), 1);
  }
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88);
    out[i + 4] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xdd);
  }
}

inline F load_half(const uint8_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline void store_half(uint8_t* p, F v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline F load_bf16(const uint8_t* p) {
  const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(raw), 16));
}

inline I load_bytes(const uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I load_signed_bytes(const uint8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
/// table[index] of sixteen floats, indices below 16.
inline F lookup16(const float* table, I indices) { return _mm512_permutexvar_ps(indices, load_f(table)); }

/// States of 16 channels that a scan holds in registers.
constexpr int kScannedStates = 8;
/// Vectors of one row that attention weighs at once: four queries' sums fill half of the registers.
constexpr int kWeighedVectors = 4;

inline bool isa_supported() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

}  // namespace
}  // namespace ferrox
