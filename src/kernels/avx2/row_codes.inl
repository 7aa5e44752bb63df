// Which codes do 64 weights of one row have? In the order of the weights, so that 64 activations are multiplied with
// them as they lie. `block` is where the row's K-block starts, kQuarter says which 64 of its 256. Codes of 8 bits come
// as signed numbers.
namespace ferrox {
namespace {

inline __m256i load_bytes_32(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

inline __m256i low_nibbles(__m256i packed) { return _mm256_and_si256(packed, _mm256_set1_epi8(0x0f)); }
inline __m256i high_nibbles(__m256i packed) { return low_nibbles(_mm256_srli_epi16(packed, 4)); }

/// The nibbles of 16 bytes, all low ones first.
inline __m256i split_16(const uint8_t* packed) {
  const __m256i twice = _mm256_broadcastsi128_si256(load_bytes_16(packed));
  return low_nibbles(_mm256_srlv_epi64(twice, _mm256_set_epi64x(4, 4, 0, 0)));
}

/// The nibbles of two blocks of Format's size that start with kHeader bytes of something else.
template <class Format, int kQuarter, int kHeader>
[[gnu::always_inline]] inline I pair_nibbles(const uint8_t* block) {
  const uint8_t* first = block + 2 * kQuarter * Format::kBytes + kHeader;
  return {split_16(first), split_16(first + Format::kBytes)};
}

/// 16 in each byte whose bit of the 32 at `bits` is set.
inline __m256i fifth_bits_32(const uint8_t* bits) {
  const __m256i byte_of_each =
      _mm256_set_epi8(3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i bit_of_each = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(load_u32(bits))), byte_of_each);
  const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit_of_each), bit_of_each);
  return _mm256_and_si256(is_set, _mm256_set1_epi8(0x10));
}

/// Adds 16 where a bit of the two words at kHeader is set.
template <class Format, int kQuarter, int kHeader>
[[gnu::always_inline]] inline I with_fifth_bits(I nibbles, const uint8_t* block) {
  const uint8_t* first = block + 2 * kQuarter * Format::kBytes + kHeader;
  return or_i(nibbles, I{fifth_bits_32(first), fifth_bits_32(first + Format::kBytes)});
}

/// Codes of 8 bits less their zero.
inline I signed_codes(I codes) { return xor_i(codes, byte_mask(0x80)); }

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
  return {load_bytes_32(first), load_bytes_32(first + q8_0::kBytes)};
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(iq4_nl, const uint8_t* block) {
  return signed_codes(look_up_bytes(kIq4Codes, pair_nibbles<iq4_nl, kQuarter, 2>(block)));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(mxfp4, const uint8_t* block) {
  return look_up_bytes(kFp4Codes, pair_nibbles<mxfp4, kQuarter, 1>(block));
}

/// The nibbles of 16 bytes: low and high ones of the first eight, then those of the others.
inline __m256i split_8_and_8(const uint8_t* packed) {
  const __m256i twice = _mm256_permute4x64_epi64(_mm256_castsi128_si256(load_bytes_16(packed)), 0x50);
  return low_nibbles(_mm256_srlv_epi64(twice, _mm256_set_epi64x(4, 0, 4, 0)));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(nvfp4, const uint8_t* block) {
  const uint8_t* packed = block + kQuarter * nvfp4::kBytes + 4;
  return look_up_bytes(kFp4Codes, I{split_8_and_8(packed), split_8_and_8(packed + 16)});
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q4_K, const uint8_t* block) {
  const __m256i packed = load_bytes_32(block + 16 + 32 * kQuarter);
  return {low_nibbles(packed), high_nibbles(packed)};
}

/// Bit kBit of each byte as bit 4.
template <int kBit>
[[gnu::always_inline]] inline __m256i bit_as_fifth(__m256i bytes) {
  const __m256i moved = kBit < 4 ? _mm256_slli_epi16(bytes, 4 - kBit) : _mm256_srli_epi16(bytes, kBit - 4);
  return _mm256_and_si256(moved, _mm256_set1_epi8(0x10));
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q5_K, const uint8_t* block) {
  // bit 2q of a fifth-bit byte belongs to quarter q's low nibbles, bit 2q + 1 to its high ones
  const __m256i bits = load_bytes_32(block + 16);
  const __m256i packed = load_bytes_32(block + 48 + 32 * kQuarter);
  return {_mm256_or_si256(low_nibbles(packed), bit_as_fifth<2 * kQuarter>(bits)),
          _mm256_or_si256(high_nibbles(packed), bit_as_fifth<2 * kQuarter + 1>(bits))};
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(q6_K, const uint8_t* block) {
  const uint8_t* low = block + kQuarter / 2 * 64;
  const __m256i first = load_bytes_32(low);
  const __m256i second = load_bytes_32(low + 32);
  const __m256i bits = load_bytes_32(block + 128 + kQuarter / 2 * 32);
  const I upper = byte_mask(0x30);
  if constexpr (kQuarter % 2 == 0) {
    const I high{_mm256_slli_epi16(bits, 4), _mm256_slli_epi16(bits, 2)};
    return or_i(I{low_nibbles(first), low_nibbles(second)}, and_i(high, upper));
  } else {
    const I high{bits, _mm256_srli_epi16(bits, 2)};
    return or_i(I{high_nibbles(first), high_nibbles(second)}, and_i(high, upper));
  }
}
template <int kQuarter>
[[gnu::always_inline]] inline I row_codes(iq4_xs, const uint8_t* block) {
  const uint8_t* packed = block + 8 + 32 * kQuarter;
  return signed_codes(look_up_bytes(kIq4Codes, I{split_16(packed), split_16(packed + 16)}));
}

}  // namespace
}  // namespace ferrox
