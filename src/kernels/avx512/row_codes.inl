// Which codes do 64 weights of one row have? In the order of the weights, so that 64 activations are multiplied with
// them as they lie. `block` is where the row's K-block starts, kQuarter says which 64 of its 256.
namespace ferrox {
namespace {

inline I load_bytes_64(const void* p) { return _mm512_loadu_si512(p); }
inline __m128i load_bytes_16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline __m256i load_bytes_32(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

/// 32 bytes from each of two places.
inline I join_256(const void* low, const void* high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(load_bytes_32(low)), load_bytes_32(high), 1);
}

/// 16 bytes from each of two places, each in two lanes of 128 bits.
inline I twice_16(const uint8_t* low, const uint8_t* high) {
  return _mm512_mask_broadcast_i32x4(_mm512_broadcast_i32x4(load_bytes_16(low)), 0xff00, load_bytes_16(high));
}

/// The low nibbles of even 64-bit pairs and the high ones of odd: for bytes that stand twice, kWidth bytes each time.
template <int kWidth>
inline I split_twice(I packed) {
  const I counts = kWidth == 8    ? _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0)
                   : kWidth == 16 ? _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0)
                                  : _mm512_set_epi64(4, 4, 4, 4, 0, 0, 0, 0);
  return and_i(_mm512_srlv_epi64(packed, counts), byte_mask(0x0f));
}

/// The nibbles of two blocks of Format's size that start with kHeader bytes of something else.
template <class Format, int kQuarter, int kHeader>
[[gnu::always_inline]] inline I pair_nibbles(const uint8_t* block) {
  const uint8_t* first = block + 2 * kQuarter * Format::kBytes + kHeader;
  return split_twice<16>(twice_16(first, first + Format::kBytes));
}

/// Adds 16 where a bit of the two words at kHeader is set.
template <class Format, int kQuarter, int kHeader>
[[gnu::always_inline]] inline I with_fifth_bits(I nibbles, const uint8_t* block) {
  const uint8_t* first = block + 2 * kQuarter * Format::kBytes + kHeader;
  const __mmask64 bits = load_u32(first) | static_cast<uint64_t>(load_u32(first + Format::kBytes)) << 32;
  return _mm512_mask_add_epi8(nibbles, bits, nibbles, byte_mask(0x10));
}

template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q4_0, const uint8_t* block) {
  return pair_nibbles<q4_0, kQuarter, 2>(block);
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q4_1, const uint8_t* block) {
  return pair_nibbles<q4_1, kQuarter, 4>(block);
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q5_0, const uint8_t* block) {
  return with_fifth_bits<q5_0, kQuarter, 2>(pair_nibbles<q5_0, kQuarter, 6>(block), block);
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q5_1, const uint8_t* block) {
  return with_fifth_bits<q5_1, kQuarter, 4>(pair_nibbles<q5_1, kQuarter, 8>(block), block);
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q8_0, const uint8_t* block) {
  const uint8_t* first = block + 2 * kQuarter * q8_0::kBytes + 2;
  return xor_i(join_256(first, first + q8_0::kBytes), byte_mask(0x80));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(iq4_nl, const uint8_t* block) {
  return look_up_bytes(kIq4Codes, pair_nibbles<iq4_nl, kQuarter, 2>(block));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(mxfp4, const uint8_t* block) {
  return look_up_bytes(kFp4Codes, pair_nibbles<mxfp4, kQuarter, 1>(block));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(nvfp4, const uint8_t* block) {
  const I packed = _mm512_castsi256_si512(load_bytes_32(block + kQuarter * nvfp4::kBytes + 4));
  const I twice = _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), packed);
  return look_up_bytes(kFp4Codes, split_twice<8>(twice));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q4_K, const uint8_t* block) {
  return split_twice<32>(_mm512_broadcast_i64x4(load_bytes_32(block + 16 + 32 * kQuarter)));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q5_K, const uint8_t* block) {
  // Bit 2q of a fifth-bit byte belongs to quarter q's low nibbles, bit 2q + 1 to its high ones. Turned by less than 8
  // within 32 bits, a bit that becomes bit 4 of a byte comes from that same byte.
  constexpr int kLow = (4 - 2 * kQuarter) & 31;
  constexpr int kHigh = (3 - 2 * kQuarter) & 31;
  const I turns = _mm512_set_epi32(kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kHigh, kLow, kLow, kLow, kLow, kLow,
                                   kLow, kLow, kLow);
  const I turned = _mm512_rolv_epi32(_mm512_broadcast_i64x4(load_bytes_32(block + 16)), turns);
  const I nibbles = split_twice<32>(_mm512_broadcast_i64x4(load_bytes_32(block + 48 + 32 * kQuarter)));
  return _mm512_ternarylogic_epi32(nibbles, turned, byte_mask(0x10), 0xf8);  // nibbles | (turned & 0x10)
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q6_K, const uint8_t* block) {
  const I left = _mm512_set_epi32(2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4);
  const I right = _mm512_set_epi32(2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0);
  const I nibbles = load_bytes_64(block + kQuarter / 2 * 64);
  const I bits = _mm512_broadcast_i64x4(load_bytes_32(block + 128 + kQuarter / 2 * 32));
  const I low = and_i(kQuarter % 2 == 0 ? nibbles : shift_right_logical<4>(nibbles), byte_mask(0x0f));
  const I high = kQuarter % 2 == 0 ? _mm512_sllv_epi32(bits, left) : _mm512_srlv_epi32(bits, right);
  return _mm512_ternarylogic_epi32(low, high, byte_mask(0x30), 0xf8);
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(iq4_xs, const uint8_t* block) {
  const uint8_t* first = block + 8 + 32 * kQuarter;
  return look_up_bytes(kIq4Codes, split_twice<16>(twice_16(first, first + 16)));
}

}  // namespace
}  // namespace ferrox
