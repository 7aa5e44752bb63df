// Sixteen lanes in two AVX2 registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/half.h"

namespace ferrox {
namespace {

/// Do products take weights apart 16 rows at a time?
inline constexpr bool kUnpacksLanes = true;
/// Activation rows up to which weight rows are read in a straight line: this ISA has no such path.
inline constexpr int kStreamedRows = 0;
/// Panels and activation rows of a micro-kernel: 8 sums, up to 4 weights and 1 activation fill 16 registers.
inline constexpr int kManyPanels = 1;
inline constexpr int kManyPanelsRows = 4;
inline constexpr int kOnePanelRows = 4;

struct F {
  __m256 lo, hi;
};
struct I {
  __m256i lo, hi;
};
/// 16 groups of 4 codes. Codes of 8 bits are kept as magnitude and signed value, since vpmaddubsw would saturate.
struct W {
  __m256i lo, hi, signed_lo, signed_hi;
};

inline F zero_f() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline F set1_f(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline F load_f(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store_f(float* p, F v) {
  _mm256_storeu_ps(p, v.lo);
  _mm256_storeu_ps(p + 8, v.hi);
}
inline F load_f_n(const float* p, int n) {
  alignas(32) float buffer[16] = {};
  __builtin_memcpy(buffer, p, static_cast<size_t>(n) * 4);
  return load_f(buffer);
}
inline void store_f_n(float* p, F v, int n) {
  alignas(32) float buffer[16];
  store_f(buffer, v);
  __builtin_memcpy(p, buffer, static_cast<size_t>(n) * 4);
}
inline F add(F a, F b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
inline F sub(F a, F b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
inline F mul(F a, F b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
inline F div(F a, F b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
inline F fma(F a, F b, F c) { return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)}; }
inline F fnma(F a, F b, F c) { return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)}; }
inline F max_f(F a, F b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
inline F min_f(F a, F b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
inline F select_less(F a, F b, F yes, F no) {
  return {_mm256_blendv_ps(no.lo, yes.lo, _mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)),
          _mm256_blendv_ps(no.hi, yes.hi, _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
}
inline float hsum(F v) {
  const __m256 v8 = _mm256_add_ps(v.lo, v.hi);
  const __m128 v4 = _mm_add_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_add_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_add_ss(v2, _mm_shuffle_ps(v2, v2, 1)));
}
inline float hmax(F v) {
  const __m256 v8 = _mm256_max_ps(v.lo, v.hi);
  const __m128 v4 = _mm_max_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_max_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_max_ss(v2, _mm_shuffle_ps(v2, v2, 1)));
}

inline I zero_i() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
inline I set1_i(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
inline I load_i(const int32_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 8))};
}
inline void store_i(int32_t* p, I v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v.lo);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), v.hi);
}
inline I add_i(I a, I b) { return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
inline I mul_i(I a, I b) { return {_mm256_mullo_epi32(a.lo, b.lo), _mm256_mullo_epi32(a.hi, b.hi)}; }
template <int kBits>
inline I shift_left(I a) {
  return {_mm256_slli_epi32(a.lo, kBits), _mm256_slli_epi32(a.hi, kBits)};
}
template <int kBits>
inline I shift_right(I a) {
  return {_mm256_srai_epi32(a.lo, kBits), _mm256_srai_epi32(a.hi, kBits)};
}
/// By 0 to 31 bits.
inline I shift_left_by(I a, int n_bits) {
  const __m128i count = _mm_cvtsi32_si128(n_bits);
  return {_mm256_sll_epi32(a.lo, count), _mm256_sll_epi32(a.hi, count)};
}
inline I and_i(I a, I b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
inline I or_i(I a, I b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
inline I xor_i(I a, I b) { return {_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)}; }
template <int kBits>
inline I shift_right_logical(I a) {
  return {_mm256_srli_epi32(a.lo, kBits), _mm256_srli_epi32(a.hi, kBits)};
}
/// table[byte] of each byte, all below 16.
inline I look_up_bytes(const uint8_t (&table)[16], I indices) {
  const __m256i entries = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return {_mm256_shuffle_epi8(entries, indices.lo), _mm256_shuffle_epi8(entries, indices.hi)};
}
inline __m256 half_lanes8(__m256i a) {
  const __m256i low = _mm256_and_si256(a, _mm256_set1_epi32(0xffff));
  return _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}
/// The F16 number in each lane's low half.
inline F half_lanes(I a) { return {half_lanes8(a.lo), half_lanes8(a.hi)}; }
/// The lanes' low bytes.
inline void store_i8(int8_t* p, I v) {
  const __m256i low = _mm256_set1_epi32(0xff);
  const __m256i words = _mm256_packus_epi32(_mm256_and_si256(v.lo, low), _mm256_and_si256(v.hi, low));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
}
/// sums[i] = sum of bytes 16 * i .. 16 * i + 15, for 256 bytes. An unsigned sum of eight is one instruction.
inline void sum_each_16(const int8_t* bytes, int16_t* sums) {
  for (int i = 0; i < 16; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * i));
    const __m128i eights = _mm_sad_epu8(_mm_xor_si128(v, _mm_set1_epi8(-128)), _mm_setzero_si128());
    const int sum = _mm_cvtsi128_si32(_mm_add_epi64(eights, _mm_unpackhi_epi64(eights, eights)));
    sums[i] = static_cast<int16_t>(sum - 16 * 128);
  }
}
inline F to_float(I v) { return {_mm256_cvtepi32_ps(v.lo), _mm256_cvtepi32_ps(v.hi)}; }
inline I round_to_int(F v) { return {_mm256_cvtps_epi32(v.lo), _mm256_cvtps_epi32(v.hi)}; }
inline F bits_to_float(I v) { return {_mm256_castsi256_ps(v.lo), _mm256_castsi256_ps(v.hi)}; }
inline F and_bits(F v, I mask) {
  return {_mm256_and_ps(v.lo, _mm256_castsi256_ps(mask.lo)), _mm256_and_ps(v.hi, _mm256_castsi256_ps(mask.hi))};
}

/// Codes that lie in lanes already.
template <bool kWide>
inline W to_w(I codes) {
  if constexpr (!kWide) return {codes.lo, codes.hi, codes.lo, codes.hi};
  const __m256i offset = _mm256_set1_epi8(static_cast<char>(0x80));
  const __m256i signed_lo = _mm256_xor_si256(codes.lo, offset);
  const __m256i signed_hi = _mm256_xor_si256(codes.hi, offset);
  return {_mm256_abs_epi8(signed_lo), _mm256_abs_epi8(signed_hi), signed_lo, signed_hi};
}
template <bool kWide>
inline W load_w(const uint8_t* p) {
  return to_w<kWide>(load_i(reinterpret_cast<const int32_t*>(p)));
}
inline __m256i dot4_half(__m256i acc, __m256i w, __m256i x) {
  return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1)));
}
/// Four products of small codes fit 16 bits: 4 * 63 * 127 < 32768. So two steps share the way from 16 to 32 bits.
inline constexpr bool kJoinsSteps = true;
inline __m256i dot8_half(__m256i acc, __m256i w0, __m256i w1, __m256i x0, __m256i x1) {
  const __m256i sums = _mm256_add_epi16(_mm256_maddubs_epi16(w0, x0), _mm256_maddubs_epi16(w1, x1));
  return _mm256_add_epi32(acc, _mm256_madd_epi16(sums, _mm256_set1_epi16(1)));
}
/// dot4 of w0 and x0 and of w1 and x1, codes below 64.
inline I dot8(I acc, W w0, W w1, int32_t x0, int32_t x1) {
  const __m256i q0 = _mm256_set1_epi32(x0);
  const __m256i q1 = _mm256_set1_epi32(x1);
  return {dot8_half(acc.lo, w0.lo, w1.lo, q0, q1), dot8_half(acc.hi, w0.hi, w1.hi, q0, q1)};
}
/// Narrow codes stay below 128, wide magnitudes at 128 with |x| <= 127: no pair of products passes 32767.
template <bool kWide>
inline I dot4(I acc, W w, int32_t x) {
  const __m256i q = _mm256_set1_epi32(x);
  if constexpr (kWide) {
    return {dot4_half(acc.lo, w.lo, _mm256_sign_epi8(q, w.signed_lo)),
            dot4_half(acc.hi, w.hi, _mm256_sign_epi8(q, w.signed_hi))};
  } else {
    return {dot4_half(acc.lo, w.lo, q), dot4_half(acc.hi, w.hi, q)};
  }
}
/// Wide codes are multiplied as signed numbers, so their sums start at 0.
template <int kZero, bool kWide>
inline I initial_sum(int32_t q_sum) {
  if constexpr (kWide) return zero_i();
  return set1_i(q_sum * -kZero);
}
inline I madd16(I acc, I pairs, int32_t x) {
  const __m256i q = _mm256_set1_epi32(x);
  return {_mm256_add_epi32(acc.lo, _mm256_madd_epi16(pairs.lo, q)),
          _mm256_add_epi32(acc.hi, _mm256_madd_epi16(pairs.hi, q))};
}

/// out[i] = dword i of 8 rows: pairs, fours, then 128-bit lanes.
inline void load_lanes8(const uint8_t* src, int64_t stride, __m256i* out) {
  __m256i a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i * stride));
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm256_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm256_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm256_permute2x128_si256(a[i], a[i + 4], 0x20);
    out[i + 4] = _mm256_permute2x128_si256(a[i], a[i + 4], 0x31);
  }
}
/// out[i] = dword i of the 16 rows.
inline void load_lanes(const uint8_t* src, int64_t stride, I* out) {
  for (int i = 0; i < 16; i += 8) {
    __m256i lo[8], hi[8];
    load_lanes8(src + i * 4, stride, lo);
    load_lanes8(src + 8 * stride + i * 4, stride, hi);
    for (int j = 0; j < 8; ++j) out[i + j] = {lo[j], hi[j]};
  }
}

inline F load_half(const uint8_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))};
}
inline void store_half(uint8_t* p, F v) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v.lo, kNearest));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 16), _mm256_cvtps_ph(v.hi, kNearest));
}
inline __m256 widen_bf16(const uint8_t* p) {
  const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(raw), 16));
}
inline F load_bf16(const uint8_t* p) { return {widen_bf16(p), widen_bf16(p + 16)}; }

inline I load_bytes(const uint8_t* p) {
  return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8)))};
}
inline I load_signed_bytes(const uint8_t* p) {
  return {_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + 8)))};
}
inline __m256 lookup8(const float* table, __m256i indices) {
  const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), indices);
  const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), indices);
  return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(indices, 28)));  // bit 3 becomes the sign
}
/// table[index] of sixteen floats, indices below 16.
inline F lookup16(const float* table, I indices) { return {lookup8(table, indices.lo), lookup8(table, indices.hi)}; }

/// States of 16 channels that a scan holds in registers.
constexpr int kScannedStates = 4;
/// Vectors of one row that attention weighs at once: four queries' sums fill half of the registers.
constexpr int kWeighedVectors = 1;

inline bool isa_supported() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

}  // namespace
}  // namespace ferrox
