// Which codes do the rows of formats with grids, bit pairs and third bits have? A block at a time: quarter i of its
// codes is codes[i], in the order of the weights. A grid's entries are 16 bits, so 64 of them are two vectors and one
// instruction looks up 32 of them; what lies further up in the index chooses between such lookups.
namespace ferrox {
namespace {

/// 32 words of kEntries, by index. Bits of an index above those that are needed are passed over.
template <int kEntries>
[[gnu::always_inline]] inline I look_up_entries(const uint16_t* grid, I index) {
  if constexpr (kEntries == 64) {
    return _mm512_permutex2var_epi16(load_bytes_64(grid), index, load_bytes_64(grid + 32));
  } else {
    constexpr int kHalf = kEntries / 2;
    const __mmask32 upper = _mm512_test_epi16_mask(index, _mm512_set1_epi16(kHalf));
    return _mm512_mask_blend_epi16(upper, look_up_entries<kHalf>(grid, index),
                                   look_up_entries<kHalf>(grid + kHalf, index));
  }
}

/// Bytes of each 64-bit lane from bit 0, kStep, 2 * kStep and so on, or in two halves of four each.
template <int kStep, bool kHalves>
inline I bit_steps() {
  const auto at = [](int i) { return static_cast<char>(kHalves ? i / 4 * 32 + i % 4 * kStep : i * kStep); };
  return _mm512_broadcastq_epi64(
      _mm_set_epi8(0, 0, 0, 0, 0, 0, 0, 0, at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0)));
}

/// Sixteen bytes in every 128 bits.
inline I each_128(char a, char b, char c, char d, char e = 0, char f = 0, char g = 0, char h = 0) {
  return _mm512_broadcast_i32x4(_mm_set_epi8(0, 0, 0, 0, 0, 0, 0, 0, h, g, f, e, d, c, b, a));
}

/// zero + magnitude, or zero - magnitude where a sign bit is set: of 64 weights.
inline I signed_codes(int zero, I magnitudes, uint64_t signs) {
  const I middle = byte_mask(static_cast<uint32_t>(zero));
  return _mm512_mask_sub_epi8(_mm512_add_epi8(middle, magnitudes), signs, middle, magnitudes);
}

/// even_signs of 32 bytes.
inline __m256i even_sign_bytes(__m256i seven_bits) {
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i folded = _mm256_and_si256(_mm256_xor_si256(seven_bits, _mm256_srli_epi16(seven_bits, 4)), nibble);
  const __m256i parity =
      _mm256_broadcastsi128_si256(_mm_set_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
  return _mm256_or_si256(seven_bits, _mm256_shuffle_epi8(parity, folded));
}

/// 32 entries of eight bit pairs as magnitudes of 64 weights each, signs applied. `signs`: a bit a weight.
[[gnu::always_inline]] inline void iq2_codes(I entries, __m256i signs, I* codes) {
  const I levels = each_128(8, 25, 43, 60);  // no entry has a step of 3
  const auto quarter = [&](__m128i eight, long long bits) __attribute__((always_inline)) {
    const I fields = _mm512_multishift_epi64_epi8(bit_steps<2, false>(), _mm512_cvtepu16_epi64(eight));
    const I magnitudes = _mm512_shuffle_epi8(levels, and_i(fields, byte_mask(3)));
    return signed_codes(64, magnitudes, static_cast<uint64_t>(bits));
  };
  codes[0] = quarter(_mm512_extracti32x4_epi32(entries, 0), _mm256_extract_epi64(signs, 0));
  codes[1] = quarter(_mm512_extracti32x4_epi32(entries, 1), _mm256_extract_epi64(signs, 1));
  codes[2] = quarter(_mm512_extracti32x4_epi32(entries, 2), _mm256_extract_epi64(signs, 2));
  codes[3] = quarter(_mm512_extracti32x4_epi32(entries, 3), _mm256_extract_epi64(signs, 3));
}

/// 64 entries of four nibbles below 8, looked up in `levels`.
[[gnu::always_inline]] inline void iq3_codes(I first, I last, I levels, int zero, __m256i signs, I* codes) {
  const auto quarter = [&](__m256i sixteen, long long bits) __attribute__((always_inline)) {
    const I fields = _mm512_multishift_epi64_epi8(bit_steps<4, true>(), _mm512_cvtepu16_epi32(sixteen));
    return signed_codes(zero, _mm512_shuffle_epi8(levels, and_i(fields, byte_mask(7))), static_cast<uint64_t>(bits));
  };
  codes[0] = quarter(_mm512_castsi512_si256(first), _mm256_extract_epi64(signs, 0));
  codes[1] = quarter(_mm512_extracti64x4_epi64(first, 1), _mm256_extract_epi64(signs, 1));
  codes[2] = quarter(_mm512_castsi512_si256(last), _mm256_extract_epi64(signs, 2));
  codes[3] = quarter(_mm512_extracti64x4_epi64(last, 1), _mm256_extract_epi64(signs, 3));
}

/// Four fields of seven bits from kFrom on in each of eight 64-bit lanes, as 32 bytes of eight signs.
template <int kFrom>
inline __m256i seven_bit_signs(I lanes) {
  const I steps = each_128(kFrom, kFrom + 7, kFrom + 14, kFrom + 21, kFrom, kFrom, kFrom, kFrom);
  const I all = _mm512_unpacklo_epi64(steps, steps);
  const __m256i bytes = _mm512_cvtepi64_epi32(_mm512_multishift_epi64_epi8(all, lanes));
  return even_sign_bytes(_mm256_and_si256(bytes, _mm256_set1_epi8(127)));
}

inline I widened(__m256i bytes) { return _mm512_cvtepu8_epi16(bytes); }

inline void block_codes(iq2_xxs, const uint8_t* block, I* codes) {
  const I lanes = load_bytes_64(block + 2);  // four indices, four times seven signs, a scale
  const I entries = look_up_entries<256>(kIq2XxsGrid, widened(_mm512_cvtepi64_epi32(lanes)));
  iq2_codes(entries, seven_bit_signs<32>(lanes), codes);
}
inline void block_codes(iq2_xs, const uint8_t* block, I* codes) {
  const I runs = load_bytes_64(block + 2);
  const I entries = look_up_entries<512>(kIq2XsGrid, runs);
  iq2_codes(entries, even_sign_bytes(_mm512_cvtepi16_epi8(_mm512_srli_epi16(runs, 9))), codes);
}
inline void block_codes(iq2_s, const uint8_t* block, I* codes) {
  const auto pairs = static_cast<long long>(load_u64(block + 66));
  const I upper =
      _mm512_and_si512(_mm512_srlv_epi64(_mm512_set1_epi64(pairs), _mm512_set_epi64(56, 48, 40, 32, 24, 16, 8, 0)),
                       _mm512_set1_epi64(0xff));
  const I fields = _mm512_multishift_epi64_epi8(bit_steps<2, false>(), upper);  // of each lane the first four bytes
  const __m256i high = _mm256_and_si256(_mm512_cvtepi64_epi32(fields), _mm256_set1_epi8(3));
  const I index = or_i(widened(load_bytes_32(block + 2)), _mm512_slli_epi16(widened(high), 8));
  iq2_codes(look_up_entries<1024>(kIq2SGrid, index), load_bytes_32(block + 34), codes);
}
inline void block_codes(iq3_xxs, const uint8_t* block, I* codes) {
  const I first = look_up_entries<256>(kIq3XxsGrid, widened(load_bytes_32(block + 2)));
  const I last = look_up_entries<256>(kIq3XxsGrid, widened(load_bytes_32(block + 34)));
  const I signs = _mm512_cvtepu32_epi64(load_bytes_32(block + 66));
  iq3_codes(first, last, each_128(4, 12, 20, 28, 36, 44, 52, 62), 64, seven_bit_signs<0>(signs), codes);
}
inline void block_codes(iq3_s, const uint8_t* block, I* codes) {
  const I ninth = _mm512_set1_epi16(256);
  const I low = widened(load_bytes_32(block + 2));
  const I high = widened(load_bytes_32(block + 34));
  const I first = look_up_entries<512>(kIq3SGrid, _mm512_mask_add_epi16(low, load_u32(block + 66), low, ninth));
  const I last = look_up_entries<512>(kIq3SGrid, _mm512_mask_add_epi16(high, load_u32(block + 70), high, ninth));
  iq3_codes(first, last, each_128(1, 3, 5, 7, 9, 11, 13, 15), 16, load_bytes_32(block + 74), codes);
}

/// Three bits from 0, 3, 6 and 9 on of each of eight words, in order.
inline I three_bit_fields(__m128i words) {
  const I at = _mm512_srli_epi16(_mm512_cvtepu8_epi16(_mm256_set_epi64x(0x1f1e1d1c1b1a1918, 0x1716151413121110,
                                                                        0x0f0e0d0c0b0a0908, 0x0706050403020100)),
                                 2);  // 0 0 0 0 1 1 1 1 and so on
  const I counts = _mm512_set1_epi64(0x0009000600030000);
  const I spread = _mm512_permutexvar_epi16(at, _mm512_castsi128_si512(words));
  return _mm512_and_si512(_mm512_srlv_epi16(spread, counts), _mm512_set1_epi16(7));
}

/// Eight entries' digits, eight times each.
inline I iq1_digits(__m128i eight) {
  const I fields = _mm512_multishift_epi64_epi8(bit_steps<2, false>(), _mm512_cvtepu16_epi64(eight));
  return shift_left<3>(and_i(fields, byte_mask(3)));
}
inline void block_codes(iq1_s, const uint8_t* block, I* codes) {
  const __m128i words = load_bytes_16(block + 34);  // four times three bits of an index, a scale, the direction
  const I index = or_i(widened(load_bytes_32(block + 2)), _mm512_slli_epi16(three_bit_fields(words), 8));
  const I entries = look_up_entries<2048>(kIq1Grid, index);
  const __m128i up = _mm_andnot_si128(_mm_srai_epi16(words, 15), _mm_set1_epi16(0x0202));
  unrolled<4>([&]<int kQuarter>() __attribute__((always_inline)) {
    const I at = _mm512_inserti64x4(_mm512_set1_epi16(2 * kQuarter), _mm256_set1_epi16(2 * kQuarter + 1), 1);
    const I shifts = _mm512_permutexvar_epi16(at, _mm512_castsi128_si512(up));
    codes[kQuarter] = _mm512_add_epi8(iq1_digits(_mm512_extracti32x4_epi32(entries, kQuarter)), shifts);
  });
}
inline void block_codes(iq1_m, const uint8_t* block, I* codes) {
  const __m128i packed = load_bytes_16(block + 32);  // three bits of an index and the direction, twice
  const __m128i low = _mm_and_si128(packed, _mm_set1_epi8(15));
  const __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), _mm_set1_epi8(15));
  const __m256i nibbles = _mm256_set_m128i(_mm_unpackhi_epi8(low, high), _mm_unpacklo_epi8(low, high));
  const __m256i upper = _mm256_and_si256(nibbles, _mm256_set1_epi8(7));
  const I entries =
      look_up_entries<2048>(kIq1Grid, or_i(widened(load_bytes_32(block)), _mm512_slli_epi16(widened(upper), 8)));
  const uint32_t down = _mm256_test_epi8_mask(nibbles, _mm256_set1_epi8(8));
  unrolled<4>([&]<int kQuarter>() __attribute__((always_inline)) {
    const auto up = static_cast<__mmask8>(~(down >> 8 * kQuarter));
    const I digits = iq1_digits(_mm512_extracti32x4_epi32(entries, kQuarter));
    codes[kQuarter] = _mm512_add_epi8(digits, _mm512_maskz_mov_epi64(up, byte_mask(2)));
  });
}

/// Bit pairs kPair and kPair + 1 of 32 bytes, one after the other.
template <int kPair>
inline I two_pairs(const uint8_t* packed) {
  constexpr int kLow = 2 * kPair;
  constexpr int kHigh = kLow + 2;
  const I counts = _mm512_set_epi32(kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kLow, kLow, kLow, kLow,
                                    kLow, kLow, kLow, kLow);
  return and_i(_mm512_srlv_epi32(_mm512_broadcast_i64x4(load_bytes_32(packed)), counts), byte_mask(3));
}
inline void pair_codes(const uint8_t* packed, I* codes) {
  codes[0] = two_pairs<0>(packed);
  codes[1] = two_pairs<2>(packed);
  codes[2] = two_pairs<0>(packed + 32);
  codes[3] = two_pairs<2>(packed + 32);
}

inline void block_codes(tq2_0, const uint8_t* block, I* codes) { pair_codes(block, codes); }
inline void block_codes(q2_K, const uint8_t* block, I* codes) { pair_codes(block + 16, codes); }
inline void block_codes(q3_K, const uint8_t* block, I* codes) {
  pair_codes(block + 32, codes);
  const I thirds = _mm512_broadcast_i64x4(load_bytes_32(block));
  unrolled<4>([&]<int kQuarter>() __attribute__((always_inline)) {  // bit 2q: the first 32 weights, 2q + 1: the others
    constexpr int kLow = (2 - 2 * kQuarter) & 31;
    constexpr int kHigh = (1 - 2 * kQuarter) & 31;
    const I turns = _mm512_set_epi32(kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kLow, kLow, kLow, kLow,
                                     kLow, kLow, kLow, kLow);
    codes[kQuarter] = _mm512_ternarylogic_epi32(codes[kQuarter], _mm512_rolv_epi32(thirds, turns), byte_mask(4), 0xf8);
  });
}

/// The digit of each byte that a multiplication with its power of 3 brings out at the top.
inline I ternary_digits(I packed, I powers) {
  const I byte = _mm512_set1_epi16(0xff);
  const auto digit = [&](I number, I power) {
    const I fraction = and_i(_mm512_mullo_epi16(number, power), byte);
    return _mm512_srli_epi16(_mm512_mullo_epi16(fraction, _mm512_set1_epi16(3)), 8);
  };
  const I even = digit(and_i(packed, byte), and_i(powers, byte));
  const I odd = digit(_mm512_srli_epi16(packed, 8), _mm512_srli_epi16(powers, 8));
  return or_i(even, _mm512_slli_epi16(odd, 8));
}

/// Powers for each 16 of 64 bytes.
inline I four_powers(int a, int b, int c, int d) {
  const auto four = [](int power) { return power * 0x01010101; };
  const int p = four(a), q = four(b), r = four(c), s = four(d);
  return _mm512_set_epi32(s, s, s, s, r, r, r, r, q, q, q, q, p, p, p, p);
}

inline void block_codes(tq1_0, const uint8_t* block, I* codes) {
  const I wide = _mm512_broadcast_i64x4(load_bytes_32(block));
  const I middle = _mm512_broadcast_i32x4(load_bytes_16(block + 32));
  codes[0] = ternary_digits(wide, four_powers(1, 1, 3, 3));
  codes[1] = ternary_digits(wide, four_powers(9, 9, 27, 27));
  codes[2] = ternary_digits(_mm512_mask_blend_epi32(0xff00, wide, middle), four_powers(81, 81, 1, 3));
  const I last = set1_i(static_cast<int32_t>(load_u32(block + 48)));
  const I powers = _mm512_inserti32x4(four_powers(9, 27, 81, 0),
                                      _mm_set_epi32(27 * 0x01010101, 9 * 0x01010101, 3 * 0x01010101, 0x01010101), 3);
  codes[3] = ternary_digits(_mm512_mask_blend_epi32(0xf000, middle, last), powers);
}

template <>
inline constexpr bool kHasBlockCodes<q2_K> = true;
template <>
inline constexpr bool kHasBlockCodes<q3_K> = true;
template <>
inline constexpr bool kHasBlockCodes<tq1_0> = true;
template <>
inline constexpr bool kHasBlockCodes<tq2_0> = true;
template <>
inline constexpr bool kHasBlockCodes<iq1_s> = true;
template <>
inline constexpr bool kHasBlockCodes<iq1_m> = true;
template <>
inline constexpr bool kHasBlockCodes<iq2_xxs> = true;
template <>
inline constexpr bool kHasBlockCodes<iq2_xs> = true;
template <>
inline constexpr bool kHasBlockCodes<iq2_s> = true;
template <>
inline constexpr bool kHasBlockCodes<iq3_xxs> = true;
template <>
inline constexpr bool kHasBlockCodes<iq3_s> = true;

}  // namespace
}  // namespace ferrox
