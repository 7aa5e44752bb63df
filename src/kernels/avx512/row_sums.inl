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

/// Of sixteen sub-blocks of 16 weights.
inline DwordScales sixteen_scales(__m128i bytes) {
  const I each_four = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  DwordScales scales;
  scales.subs = _mm512_cvtepi8_epi32(bytes);
  for (int i = 0; i < 4; ++i) {
    scales.quarter[i] = _mm512_permutexvar_epi32(add_i(each_four, set1_i(4 * i)), scales.subs);
  }
  return scales;
}

/// Of eight sub-blocks of 32 weights: the lower half of `subs`, whose upper half is zero.
inline DwordScales eight_scales(I subs) {
  const I each_eight = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  DwordScales scales;
  scales.subs = subs;
  for (int i = 0; i < 4; ++i) {
    scales.quarter[i] = _mm512_permutexvar_epi32(add_i(each_eight, set1_i(2 * i)), subs);
  }
  return scales;
}

/// Eight bytes' nibbles, the low one first.
inline __m128i nibble_bytes(uint64_t packed) {
  const __m128i nibbles = _mm_set1_epi8(15);
  const __m128i low = _mm_cvtsi64_si128(static_cast<long long>(packed));
  return _mm_unpacklo_epi8(_mm_and_si128(low, nibbles), _mm_and_si128(_mm_srli_epi16(low, 4), nibbles));
}

/// 2 * scale + 1, as the grid formats have them.
inline __m128i odd_scales(__m128i scales) { return _mm_add_epi8(_mm_add_epi8(scales, scales), _mm_set1_epi8(1)); }
inline I odd_scales(__m256i scales) {
  return _mm512_zextsi256_si512(_mm256_add_epi32(_mm256_add_epi32(scales, scales), _mm256_set1_epi32(1)));
}

inline DwordScales row_scales(q6_K, const uint8_t* block) { return sixteen_scales(load_bytes_16(block + 192)); }
inline DwordScales row_scales(q2_K, const uint8_t* block) {
  return sixteen_scales(_mm_and_si128(load_bytes_16(block), _mm_set1_epi8(15)));
}
inline DwordScales row_scales(q3_K, const uint8_t* block) {
  const uint64_t packed = load_u64(block + 96);
  const uint64_t each_four = 0x0f0f0f0f0f0f0f0f;
  const uint32_t upper = load_u32(block + 104);  // bit pair i / 4 of byte i % 4 belongs to scale i
  const auto pair = [&](int i) { return static_cast<int>((upper >> 2 * i & 0x03030303u) << 4); };
  const __m128i low =
      _mm_set_epi64x(static_cast<long long>(packed >> 4 & each_four), static_cast<long long>(packed & each_four));
  const __m128i six = _mm_or_si128(low, _mm_set_epi32(pair(3), pair(2), pair(1), pair(0)));
  return sixteen_scales(_mm_sub_epi8(six, _mm_set1_epi8(32)));
}
inline DwordScales row_scales(iq2_xs, const uint8_t* block) {
  return sixteen_scales(odd_scales(nibble_bytes(load_u64(block + 66))));
}
inline DwordScales row_scales(iq2_s, const uint8_t* block) {
  return sixteen_scales(odd_scales(nibble_bytes(load_u64(block + 74))));
}
inline DwordScales row_scales(iq3_s, const uint8_t* block) {
  return eight_scales(odd_scales(_mm256_cvtepu8_epi32(nibble_bytes(load_u32(block + 106)))));
}
inline DwordScales row_scales(iq2_xxs, const uint8_t* block) {
  return eight_scales(odd_scales(_mm512_cvtepi64_epi32(_mm512_srli_epi64(load_bytes_64(block + 2), 60))));
}
inline DwordScales row_scales(iq3_xxs, const uint8_t* block) {
  return eight_scales(odd_scales(_mm256_srli_epi32(load_bytes_32(block + 66), 28)));
}
inline DwordScales row_scales(iq1_s, const uint8_t* block) {
  const __m256i words = _mm256_cvtepu16_epi32(load_bytes_16(block + 34));
  return eight_scales(odd_scales(_mm256_and_si256(_mm256_srli_epi32(words, 12), _mm256_set1_epi32(7))));
}
inline DwordScales row_scales(iq1_m, const uint8_t* block) {
  const I fields = three_bit_fields(_mm_cvtsi64_si128(static_cast<long long>(load_u64(block + 48))));
  return sixteen_scales(odd_scales(_mm256_cvtepi16_epi8(_mm512_castsi512_si256(fields))));
}
inline DwordScales row_scales(iq4_xs, const uint8_t* block) {
  const uint64_t low = _pdep_u64(load_u32(block + 4), 0x0f0f0f0f0f0f0f0f);
  const uint64_t high = _pdep_u64(load_u16(block + 2), 0x3030303030303030);
  const __m128i bytes = _mm_sub_epi8(_mm_cvtsi64_si128(static_cast<long long>(low | high)), _mm_set1_epi8(32));
  return eight_scales(_mm512_maskz_cvtepi8_epi32(0x00ff, bytes));
}

/// Products times their scales. `zeros`: what the codes' zero adds to each sub-block's sum, before its scale.
inline I multiply_dwords(const I* sums, const DwordScales& scales, I zeros) {
  const I low = add_i(mul_i(sums[0], scales.quarter[0]), mul_i(sums[1], scales.quarter[1]));
  const I high = add_i(mul_i(sums[2], scales.quarter[2]), mul_i(sums[3], scales.quarter[3]));
  return _mm512_sub_epi32(add_i(low, high), mul_i(zeros, scales.subs));
}

/// The sums of an activation row's sub-blocks, a dword each.
template <class Format>
inline I activation_sums(const ActBlock& act) {
  if constexpr (Format::kSub == 16) return _mm512_cvtepi16_epi32(load_bytes_32(act.sum16));
  return _mm512_zextsi256_si512(_mm256_cvtepi16_epi32(load_bytes_16(act.sum32)));
}

template <class Format>
inline I keep_sums(Format, const I* sums, const DwordScales& scales, const ActBlock& act) {
  if constexpr (Format::kZero == 0) {
    return multiply_dwords(sums, scales, zero_i());
  } else {
    constexpr int kShift = __builtin_ctz(Format::kZero);
    const I q_sums = activation_sums<Format>(act);
    const bool is_power = Format::kZero == 1 << kShift;
    return multiply_dwords(sums, scales, is_power ? shift_left<kShift>(q_sums) : mul_i(q_sums, set1_i(Format::kZero)));
  }
}

/// Scales of 1.
struct UnitScales {};
inline I sub_scales(const DwordScales& scales) { return scales.subs; }
inline I sub_scales(UnitScales) { return set1_i(1); }
inline UnitScales row_scales(tq1_0, const uint8_t*) { return {}; }
inline UnitScales row_scales(tq2_0, const uint8_t*) { return {}; }
template <class Format>
inline I keep_sums(Format, const I* sums, UnitScales, const ActBlock& act) {
  static_assert(Format::kZero == 1);
  return _mm512_sub_epi32(add_i(add_i(sums[0], sums[1]), add_i(sums[2], sums[3])), activation_sums<Format>(act));
}

/// Where a block's d lies.
template <class Format>
inline constexpr int kScaleAt = 0;
template <>
inline constexpr int kScaleAt<q2_K> = 80;
template <>
inline constexpr int kScaleAt<q3_K> = 108;
template <>
inline constexpr int kScaleAt<q6_K> = 208;
template <>
inline constexpr int kScaleAt<tq1_0> = 52;
template <>
inline constexpr int kScaleAt<tq2_0> = 64;

template <class Format>
inline uint16_t block_scale(Format, const uint8_t* block) {
  return load_u16(block + kScaleAt<Format>);
}
/// The upper nibbles of the four words of scales.
inline uint16_t block_scale(iq1_m, const uint8_t* block) {
  return static_cast<uint16_t>(_pext_u64(load_u64(block + 48), 0xf000f000f000f000));
}

template <class Format>
inline void keep_scales(Format, const uint8_t* block, int row, StreamScales<Format>& out) {
  out.d[row] = block_scale(Format{}, block);
  if constexpr (Format::kHasMin) out.dmin[row] = load_u16(block + kScaleAt<Format> + 2);
}

/// Format::unpack of a format with block_codes.
template <class Format>
inline void unpack_block(const uint8_t* block, uint8_t* codes, IntegerScales& scales) {
  I quarters[4];
  block_codes(Format{}, block, quarters);
  for (int i = 0; i < 4; ++i) store_i(reinterpret_cast<int32_t*>(codes + 64 * i), quarters[i]);
  const I subs = sub_scales(row_scales(Format{}, block));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(scales.scale), _mm512_cvtepi32_epi16(subs));
  const uint16_t d = block_scale(Format{}, block);
  scales.d = load_f16(reinterpret_cast<const uint8_t*>(&d)) * kScaleFactor<Format>;
  if constexpr (Format::kHasMin) {
    scales.dmin = load_f16(block + kScaleAt<Format> + 2);
    const __m128i mins = _mm_and_si128(_mm_srli_epi16(load_bytes_16(block), 4), _mm_set1_epi8(15));  // Q2_K's
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(scales.min), _mm256_cvtepu8_epi16(mins));
  }
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
