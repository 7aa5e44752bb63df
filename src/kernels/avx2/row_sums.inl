// What does a streamed row leave of its products, and which of its scales are kept? `words[j]` are those of 64 codes: a
// word's are of two codes.
namespace ferrox {
namespace {

/// Words of two products each, of 64 codes and as many activations.
template <class Format>
inline I multiply_64(I codes, const int8_t* q) {
  const I x{load_bytes_32(q), load_bytes_32(q + 32)};
  if constexpr (ShapeOf<Format>::kWide) {
    return {_mm256_maddubs_epi16(_mm256_abs_epi8(codes.lo), _mm256_sign_epi8(x.lo, codes.lo)),
            _mm256_maddubs_epi16(_mm256_abs_epi8(codes.hi), _mm256_sign_epi8(x.hi, codes.hi))};
  } else {
    return {_mm256_maddubs_epi16(codes.lo, x.lo), _mm256_maddubs_epi16(codes.hi, x.hi)};
  }
}

/// The scale of every word of each quarter.
struct WordScales {
  I quarter[4];
};

inline I multiply_scales(const I* words, const WordScales& scales) {
  I sum = multiply_words(words[0], scales.quarter[0]);
  for (int i = 1; i < 4; ++i) sum = add_i(sum, multiply_words(words[i], scales.quarter[i]));
  return sum;
}

/// Eight scales of sub-blocks of 32, given as words: a quarter's first 32 codes have an even one, the others an odd.
inline WordScales spread_words(__m128i eight) {
  const __m256i twice = _mm256_broadcastsi128_si256(eight);
  const auto everywhere = [&](int sub) {
    return _mm256_shuffle_epi8(twice, _mm256_set1_epi16(static_cast<short>(2 * sub | (2 * sub + 1) << 8)));
  };
  WordScales scales;
  for (int i = 0; i < 4; ++i) scales.quarter[i] = {everywhere(2 * i), everywhere(2 * i + 1)};
  return scales;
}

/// The eight 6-bit scales of a Q4_K or Q5_K block.
inline WordScales six_bit_scales(const uint8_t* block) {
  const uint32_t first = load_u32(block + 4);
  const uint32_t last = load_u32(block + 12);
  const uint32_t upper = (last & 0x0f0f0f0fu) | (first >> 2 & 0x30303030u);
  const uint64_t bytes = (first & 0x3f3f3f3fu) | static_cast<uint64_t>(upper) << 32;
  return spread_words(_mm_cvtepu8_epi16(_mm_cvtsi64_si128(static_cast<long long>(bytes))));
}

inline WordScales row_scales(q4_K, const uint8_t* block) { return six_bit_scales(block); }
inline WordScales row_scales(q5_K, const uint8_t* block) { return six_bit_scales(block); }
inline WordScales row_scales(iq4_xs, const uint8_t* block) {
  const uint64_t low = _pdep_u64(load_u32(block + 4), 0x0f0f0f0f0f0f0f0f);
  const uint64_t high = _pdep_u64(load_u16(block + 2), 0x3030303030303030);
  const __m128i bytes = _mm_sub_epi8(_mm_cvtsi64_si128(static_cast<long long>(low | high)), _mm_set1_epi8(32));
  return spread_words(_mm_cvtepi8_epi16(bytes));
}

template <class Format>
inline I keep_sums(Format, const I* words, const WordScales& scales, const ActBlock&) {
  return multiply_scales(words, scales);
}

/// Sixteen scales of sub-blocks of 16: spread over words, and as they are.
struct SixteenScales {
  WordScales words;
  __m256i subs;
};

inline SixteenScales row_scales(q6_K, const uint8_t* block) {
  const __m128i bytes = load_bytes_16(block + 192);
  const __m256i twice = _mm256_broadcastsi128_si256(bytes);
  const auto pair = [&](int sub) {  // into the words' upper bytes, and down again with their sign
    const __m256i order = _mm256_set_m128i(_mm_set1_epi16(static_cast<short>((sub + 1) << 8 | 0x80)),
                                           _mm_set1_epi16(static_cast<short>(sub << 8 | 0x80)));
    return _mm256_srai_epi16(_mm256_shuffle_epi8(twice, order), 8);
  };
  SixteenScales scales;
  for (int i = 0; i < 4; ++i) scales.words.quarter[i] = {pair(4 * i), pair(4 * i + 2)};
  scales.subs = _mm256_cvtepi8_epi16(bytes);
  return scales;
}

inline I keep_sums(q6_K, const I* words, const SixteenScales& scales, const ActBlock& act) {
  static_assert(q6_K::kZero == 32);
  I sum = multiply_scales(words, scales.words);
  const __m256i zeros = _mm256_madd_epi16(scales.subs, load_bytes_32(act.sum16));
  sum.lo = _mm256_sub_epi32(sum.lo, _mm256_slli_epi32(zeros, 5));
  return sum;
}

struct NoScales {};
template <class Format>
inline NoScales row_scales(Format, const uint8_t*) {
  return {};
}

template <class Format>
inline I keep_sums(Format, const I* words, NoScales, const ActBlock&) {
  const I ones = set1_i(0x00010001);
  const I sums[4] = {multiply_words(words[0], ones), multiply_words(words[1], ones), multiply_words(words[2], ones),
                     multiply_words(words[3], ones)};
  return sum_quarters(sums);
}

inline void keep_scales(q4_K, const uint8_t*, int, StreamScales<q4_K>&) {}
inline void keep_scales(q5_K, const uint8_t*, int, StreamScales<q5_K>&) {}
inline void keep_scales(q6_K, const uint8_t* block, int row, StreamScales<q6_K>& out) {
  out.d[row] = load_u16(block + 208);
}
inline void keep_scales(iq4_xs, const uint8_t* block, int row, StreamScales<iq4_xs>& out) {
  out.d[row] = load_u16(block);
}
inline void keep_scales(mxfp4, const uint8_t* block, int row, StreamScales<mxfp4>& out) {
  for (int i = 0; i < 8; ++i) out.scale[row][i] = block[i * mxfp4::kBytes];
}
inline void keep_scales(nvfp4, const uint8_t* block, int row, StreamScales<nvfp4>& out) {
  for (int i = 0; i < 4; ++i) __builtin_memcpy(out.scale[row] + 4 * i, block + i * nvfp4::kBytes, 4);
}
template <class Format>
inline void keep_scales(Format, const uint8_t* block, int row, StreamScales<Format>& out) {
  for (int i = 0; i < 8; ++i) {
    out.scale[row][i] = load_u16(block + i * Format::kBytes);
    if constexpr (Format::kHasMin) out.min[row][i] = load_u16(block + i * Format::kBytes + 2);
  }
}

}  // namespace
}  // namespace ferrox
