// Sixteen lanes in two AVX2 registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/half.h"

/// What stands in for or comes on top of the common bodies: how panels are multiplied, products of few activation rows,
/// and the loop that nothing is faster than.
#define FERROX_ISA_MULTIPLY "kernels/avx2/multiply.inl"
#define FERROX_ISA_STREAM "kernels/avx2/stream.inl"
#define FERROX_ISA_PEAK_INT8 "kernels/avx2/peak_int8.inl"

namespace ferrox {
namespace {

/// Do products take weights apart 16 rows at a time?
inline constexpr bool kUnpacksLanes = true;
/// Panels and activation rows of a micro-kernel: 8 sums, up to 4 weights and 1 activation fill 16 registers.
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
inline I sub_i(I a, I b) { return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
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

template <bool kWide>
inline W load_w(const uint8_t* p) {
  const I codes = load_i(reinterpret_cast<const int32_t*>(p));
  if constexpr (!kWide) return {codes.lo, codes.hi, codes.lo, codes.hi};
  const __m256i offset = _mm256_set1_epi8(static_cast<char>(0x80));
  const __m256i signed_lo = _mm256_xor_si256(codes.lo, offset);
  const __m256i signed_hi = _mm256_xor_si256(codes.hi, offset);
  return {_mm256_abs_epi8(signed_lo), _mm256_abs_epi8(signed_hi), signed_lo, signed_hi};
}
/// Words of two products each. Narrow codes stay below 128, wide magnitudes at 128 with |x| <= 127: no pair of products
/// passes 32767.
template <bool kWide>
inline I multiply_bytes(W w, int32_t x) {
  const __m256i q = _mm256_set1_epi32(x);
  if constexpr (!kWide) return {_mm256_maddubs_epi16(w.lo, q), _mm256_maddubs_epi16(w.hi, q)};
  return {_mm256_maddubs_epi16(w.lo, _mm256_sign_epi8(q, w.signed_lo)),
          _mm256_maddubs_epi16(w.hi, _mm256_sign_epi8(q, w.signed_hi))};
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

inline __m128i load_bytes_16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
/// out[i] = dword i of 8 rows, i below 4: rows 0 to 3 beside rows 4 to 7, then pairs, then fours.
inline void load_lanes4_of_8(const uint8_t* src, int64_t stride, __m256i* out) {
  __m256i a[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(load_bytes_16(src + i * stride)),
                                   load_bytes_16(src + (i + 4) * stride), 1);
  }
  const __m256i b0 = _mm256_unpacklo_epi32(a[0], a[1]);
  const __m256i b1 = _mm256_unpackhi_epi32(a[0], a[1]);
  const __m256i b2 = _mm256_unpacklo_epi32(a[2], a[3]);
  const __m256i b3 = _mm256_unpackhi_epi32(a[2], a[3]);
  out[0] = _mm256_unpacklo_epi64(b0, b2);
  out[1] = _mm256_unpackhi_epi64(b0, b2);
  out[2] = _mm256_unpacklo_epi64(b1, b3);
  out[3] = _mm256_unpackhi_epi64(b1, b3);
}
/// out[i] = dword i of 16 rows, i below 4.
inline void load_lanes4(const uint8_t* src, int64_t stride, I* out) {
  __m256i lo[4], hi[4];
  load_lanes4_of_8(src, stride, lo);
  load_lanes4_of_8(src + 8 * stride, stride, hi);
  for (int i = 0; i < 4; ++i) out[i] = {lo[i], hi[i]};
}
/// out[i] = dword i of 32 bytes of the 16 rows.
inline void load_lanes8(const uint8_t* src, int64_t stride, I* out) {
  load_lanes4(src, stride, out);
  load_lanes4(src + 16, stride, out + 4);
}
/// out[i] = dword i of the 16 rows.
inline void load_lanes(const uint8_t* src, int64_t stride, I* out) {
  for (int i = 0; i < 16; i += 4) load_lanes4(src + i * 4, stride, out + i);
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
