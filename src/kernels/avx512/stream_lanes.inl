// How do vectors that belong to one row each become lanes?
namespace ferrox {
namespace {

/// Lane r of the result is the sum of all lanes of rows[r].
inline I sum_lanes(const int32_t (*rows)[16]) {
  I fours[4];
  for (int i = 0; i < 4; ++i) {
    I v[4];
    for (int j = 0; j < 4; ++j) v[j] = load_i(rows[4 * i + j]);
    const I a = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    const I b = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    fours[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  }
  I halves[2];
  for (int i = 0; i < 2; ++i) {
    const I a = fours[2 * i];
    const I b = fours[2 * i + 1];
    halves[i] = _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xee));
  }
  return _mm512_add_epi32(_mm512_shuffle_i32x4(halves[0], halves[1], 0x88),
                          _mm512_shuffle_i32x4(halves[0], halves[1], 0xdd));
}

/// Dwords 0 to 3 of 16 rows as lanes.
inline void load_lanes4(const uint8_t* src, int64_t stride, I* out) {
  __m512i a[4];
  for (int i = 0; i < 4; ++i) {
    const auto row = [&](int r) { return load_bytes_16(src + r * stride); };
    a[i] = _mm512_castsi128_si512(row(i));
    a[i] = _mm512_inserti32x4(a[i], row(i + 4), 1);
    a[i] = _mm512_inserti32x4(a[i], row(i + 8), 2);
    a[i] = _mm512_inserti32x4(a[i], row(i + 12), 3);
  }
  const __m512i b0 = _mm512_unpacklo_epi32(a[0], a[1]);
  const __m512i b1 = _mm512_unpackhi_epi32(a[0], a[1]);
  const __m512i b2 = _mm512_unpacklo_epi32(a[2], a[3]);
  const __m512i b3 = _mm512_unpackhi_epi32(a[2], a[3]);
  out[0] = _mm512_unpacklo_epi64(b0, b2);
  out[1] = _mm512_unpackhi_epi64(b0, b2);
  out[2] = _mm512_unpacklo_epi64(b1, b3);
  out[3] = _mm512_unpackhi_epi64(b1, b3);
}

/// Lane by lane of 128 bits, dword q of the result is the sum of the four dwords of sums[q]'s lane.
inline I sum_quarters(const I* sums) {
  const I a = add_i(_mm512_unpacklo_epi32(sums[0], sums[1]), _mm512_unpackhi_epi32(sums[0], sums[1]));
  const I b = add_i(_mm512_unpacklo_epi32(sums[2], sums[3]), _mm512_unpackhi_epi32(sums[2], sums[3]));
  return add_i(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

}  // namespace
}  // namespace ferrox
