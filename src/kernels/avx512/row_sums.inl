// What does a streamed row leave of its products, and which of its scales are kept? `sums[j]` are those of 64 codes: a
// lane's are of four codes.
namespace ferrox {
namespace {

/// A lane's sums of four products each, of 64 codes and as many activations.
template <class Format>
inline I multiply_64(I codes, const int8_t* q) {
  return _mm512_dpbusd_epi32(zero_i(), codes, load_bytes_64(q));
}

/// Each of a 128-bit lane's words as the zero-extended byte of sub-block `low` (four times) or low + 2 (four times);
/// lanes 2 and 3: of low + 1 and low + 3.
inline I word_indices(int low) {
  const auto twice = [](int sub) { return static_cast<int>(0x80008000u | static_cast<uint32_t>(sub) * 0x10001u); };
  const int a = twice(low), b = twice(low + 2), c = twice(low + 1), d = twice(low + 3);
  return _mm512_set_epi32(d, d, c, c, d, d, c, c, b, b, a, a, b, b, a, a);
}

/// The eight 6-bit scales of a Q4_K or Q5_K block as bytes, everywhere.
inline I six_bit_scales(const uint8_t* block) {
  const uint32_t first = load_u32(block + 4);
  const uint32_t last = load_u32(block + 12);
  const uint32_t upper = (last & 0x0f0f0f0fu) | (first >> 2 & 0x30303030u);
  return _mm512_set1_epi64(static_cast<long long>((first & 0x3f3f3f3fu) | static_cast<uint64_t>(upper) << 32));
}

struct WordScales {
  I low;   ///< sub-blocks 0 to 3
  I high;  ///< sub-blocks 4 to 7
};

inline WordScales word_scales(const uint8_t* block) {
  const I scales = six_bit_scales(block);
  return {_mm512_shuffle_epi8(scales, word_indices(0)), _mm512_shuffle_epi8(scales, word_indices(4))};
}

/// A quarter holds one sub-block in its lower half and one in its upper. Sums of four products of codes below 32 fit 16
/// bits: packed, two quarters are multiplied with their scales by one instruction.
inline I multiply_words(const I* sums, const WordScales& scales) {
  const I low = _mm512_dpwssd_epi32(zero_i(), _mm512_packs_epi32(sums[0], sums[1]), scales.low);
  return _mm512_dpwssd_epi32(low, _mm512_packs_epi32(sums[2], sums[3]), scales.high);
}

inline WordScales row_scales(q4_K, const uint8_t* block) { return word_scales(block); }
inline WordScales row_scales(q5_K, const uint8_t* block) { return word_scales(block); }
inline I keep_sums(q4_K, const I* sums, const WordScales& scales, const ActBlock&) {
  return multiply_words(sums, scales);
}
inline I keep_sums(q5_K, const I* sums, const WordScales& scales, const ActBlock&) {
  return multiply_words(sums, scales);
}
inline void keep_scales(q4_K, const uint8_t*, int, StreamScales<q4_K>&) {}
inline void keep_scales(q5_K, const uint8_t*, int, StreamScales<q5_K>&) {}

/// The scales of a quarter's products, and those of whole sub-blocks.
struct DwordScales {
  I quarter[4];
  I subs;
};

inline DwordScales row_scales(q6_K, const uint8_t* block) {
  const I subs = _mm512_cvtepi8_epi32(load_bytes_16(block + 192));
  const I each_four = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  DwordScales scales;
  for (int i = 0; i < 4; ++i) {
    scales.quarter[i] = _mm512_permutexvar_epi32(add_i(each_four, set1_i(4 * i)), subs);
  }
  scales.subs = subs;
  return scales;
}

inline DwordScales row_scales(iq4_xs, const uint8_t* block) {
  const uint64_t low = _pdep_u64(load_u32(block + 4), 0x0f0f0f0f0f0f0f0f);
  const uint64_t high = _pdep_u64(load_u16(block + 2), 0x3030303030303030);
  const __m128i bytes = _mm_sub_epi8(_mm_cvtsi64_si128(static_cast<long long>(low | high)), _mm_set1_epi8(32));
  const I subs = _mm512_maskz_cvtepi8_epi32(0x00ff, bytes);
  const I each_eight = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  DwordScales scales;
  for (int i = 0; i < 4; ++i) {
    scales.quarter[i] = _mm512_permutexvar_epi32(add_i(each_eight, set1_i(2 * i)), subs);
  }
  scales.subs = subs;
  return scales;
}

/// Products times their scales. `zeros`: what the codes' zero adds to each sub-block's sum, before its scale.
inline I multiply_dwords(const I* sums, const DwordScales& scales, I zeros) {
  const I low = add_i(mul_i(sums[0], scales.quarter[0]), mul_i(sums[1], scales.quarter[1]));
  const I high = add_i(mul_i(sums[2], scales.quarter[2]), mul_i(sums[3], scales.quarter[3]));
  return _mm512_sub_epi32(add_i(low, high), mul_i(zeros, scales.subs));
}

inline I keep_sums(q6_K, const I* sums, const DwordScales& scales, const ActBlock& act) {
  static_assert(q6_K::kZero == 32);
  return multiply_dwords(sums, scales, shift_left<5>(_mm512_cvtepi16_epi32(load_bytes_32(act.sum16))));
}
inline I keep_sums(iq4_xs, const I* sums, const DwordScales& scales, const ActBlock& act) {
  static_assert(iq4_xs::kZero == 128);
  return multiply_dwords(sums, scales,
                         shift_left<7>(_mm512_cvtepi16_epi32(_mm256_castsi128_si256(load_bytes_16(act.sum32)))));
}
inline void keep_scales(q6_K, const uint8_t* block, int row, StreamScales<q6_K>& out) {
  out.d[row] = load_u16(block + 208);
}
inline void keep_scales(iq4_xs, const uint8_t* block, int row, StreamScales<iq4_xs>& out) {
  out.d[row] = load_u16(block);
}

struct NoScales {};
template <class Format>
inline NoScales row_scales(Format, const uint8_t*) {
  return {};
}

template <class Format>
inline I keep_sums(Format, const I* sums, NoScales, const ActBlock&) {
  return sum_quarters(sums);
}

inline void store_words(uint16_t* out, I words) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(words));
}
inline I low_words(short a, short b, short c, short d, short e, short f, short g, short h) {
  return _mm512_castsi128_si512(_mm_set_epi16(h, g, f, e, d, c, b, a));
}
inline I low_dwords(int a, int b, int c, int d, int e, int f, int g, int h) {
  return _mm512_castsi256_si512(_mm256_set_epi32(h, g, f, e, d, c, b, a));
}

/// Words kStride * 0 to kStride * 7 of a K-block, all within 128 bytes.
template <int kStride>
inline I near_words(const uint8_t* block) {
  static_assert(7 * kStride < 64);
  const I words = low_words(0, kStride, 2 * kStride, 3 * kStride, 4 * kStride, 5 * kStride, 6 * kStride, 7 * kStride);
  return _mm512_permutex2var_epi16(load_bytes_64(block), words, load_bytes_64(block + 64));
}

inline void keep_scales(q4_0, const uint8_t* block, int row, StreamScales<q4_0>& out) {
  store_words(out.scale[row], near_words<9>(block));
}
inline void keep_scales(iq4_nl, const uint8_t* block, int row, StreamScales<iq4_nl>& out) {
  store_words(out.scale[row], near_words<9>(block));
}
inline void keep_scales(q5_0, const uint8_t* block, int row, StreamScales<q5_0>& out) {
  // words 0 11 22 33 44 55 of the first 64, then 66 and 77, which are 10 and 21 from byte 112 on
  const I six = _mm512_permutex2var_epi16(load_bytes_64(block), low_words(0, 11, 22, 33, 44, 55, 0, 0),
                                          load_bytes_64(block + 64));
  store_words(out.scale[row], _mm512_mask_permutexvar_epi16(six, 0xc0, low_words(0, 0, 0, 0, 0, 0, 10, 21),
                                                            load_bytes_64(block + 112)));
}
inline void keep_scales(q8_0, const uint8_t* block, int row, StreamScales<q8_0>& out) {
  // words 0 17 34 51 of 64, and of the 64 from byte 136 on
  const I words = low_words(0, 17, 34, 51, 0, 0, 0, 0);
  const I low = _mm512_permutex2var_epi16(load_bytes_64(block), words, load_bytes_64(block + 64));
  const I high = _mm512_permutex2var_epi16(load_bytes_64(block + 136), words, load_bytes_64(block + 200));
  store_words(out.scale[row], _mm512_unpacklo_epi64(low, high));
}
inline void keep_scales(mxfp4, const uint8_t* block, int row, StreamScales<mxfp4>& out) {
  const I bytes = _mm512_castsi128_si512(_mm_set_epi8(0, 0, 0, 0, 0, 0, 0, 0, 119, 102, 85, 68, 51, 34, 17, 0));
  const I scales = _mm512_permutex2var_epi8(load_bytes_64(block), bytes, load_bytes_64(block + 64));
  store_words(out.scale[row], _mm512_cvtepu8_epi16(_mm512_castsi512_si256(scales)));
}

/// Dwords of a scale and a min.
template <class Format>
inline void store_pairs(I pairs, int row, StreamScales<Format>& out) {
  store_words(out.scale[row], _mm512_castsi256_si512(_mm512_cvtepi32_epi16(pairs)));
  store_words(out.min[row], _mm512_castsi256_si512(_mm512_cvtepi32_epi16(shift_right_logical<16>(pairs))));
}
inline void keep_scales(q4_1, const uint8_t* block, int row, StreamScales<q4_1>& out) {
  // dwords 0 5 10 15, and of the 16 from byte 80 on
  store_pairs(_mm512_permutex2var_epi32(load_bytes_64(block), low_dwords(0, 5, 10, 15, 16, 21, 26, 31),
                                        load_bytes_64(block + 80)),
              row, out);
}
inline void keep_scales(q5_1, const uint8_t* block, int row, StreamScales<q5_1>& out) {
  // dwords 0 6 12 18 24 30 of the first 32, then 36 and 42, which are 4 and 10 of the next 16
  const I six = _mm512_permutex2var_epi32(load_bytes_64(block), low_dwords(0, 6, 12, 18, 24, 30, 0, 0),
                                          load_bytes_64(block + 64));
  store_pairs(_mm512_mask_permutexvar_epi32(six, 0xc0, low_dwords(0, 0, 0, 0, 0, 0, 4, 10), load_bytes_64(block + 128)),
              row, out);
}
inline void keep_scales(nvfp4, const uint8_t* block, int row, StreamScales<nvfp4>& out) {
  for (int i = 0; i < 4; ++i) __builtin_memcpy(out.scale[row] + 4 * i, block + i * nvfp4::kBytes, 4);
}

}  // namespace
}  // namespace ferrox
