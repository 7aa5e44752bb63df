// How do vectors that belong to one row each become lanes?
namespace ferrox {
namespace {

/// Sums of neighbours, lane by lane of 128 bits: a0 + a2, b0 + b2, a1 + a3, b1 + b3.
inline __m256i add_alternate(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}
inline __m256i add_halves(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}
/// Lane by lane of 128 bits, dword i of the result is the sum of the four dwords of v[i]'s lane.
inline __m256i sum_each(const __m256i* v) { return add_halves(add_alternate(v[0], v[1]), add_alternate(v[2], v[3])); }

/// Lane r of the result is the sum of all lanes of rows[r], of eight rows.
inline __m256i sum_lanes8(const int32_t (*rows)[16]) {
  __m256i v[8];
  for (int i = 0; i < 8; ++i) {
    const I row = load_i(rows[i]);
    v[i] = _mm256_add_epi32(row.lo, row.hi);
  }
  const __m256i a = sum_each(v);
  const __m256i b = sum_each(v + 4);
  return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
}
inline I sum_lanes(const int32_t (*rows)[16]) { return {sum_lanes8(rows), sum_lanes8(rows + 8)}; }

/// Lane by lane of 128 bits, dword q of the result is the sum of the four dwords of sums[q]'s lane.
inline I sum_quarters(const I* sums) {
  const __m256i lo[4] = {sums[0].lo, sums[1].lo, sums[2].lo, sums[3].lo};
  const __m256i hi[4] = {sums[0].hi, sums[1].hi, sums[2].hi, sums[3].hi};
  return {sum_each(lo), sum_each(hi)};
}

}  // namespace
}  // namespace ferrox
