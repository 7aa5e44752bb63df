// How many products of bytes can one core add up at most? As multiply.inl does it for codes of four bits: eight steps
// as words, then one that widens them.
namespace ferrox {
namespace {

/// Four chains beside each other: with more, their words and sums would not fit the registers.
inline int64_t peak_int8(int64_t n_rounds) {
  const __m256i w = _mm256_set1_epi8(1);
  __m256i x = _mm256_set1_epi8(2);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[4];
  for (auto& sum : sums) sum = _mm256_setzero_si256();
  for (int64_t round = 0; round < n_rounds; ++round) {
    __m256i words[4];
    for (auto& word : words) word = _mm256_setzero_si256();
    for (int step = 0; step < 8; ++step) {
      for (auto& word : words) {
        word = _mm256_add_epi16(word, _mm256_maddubs_epi16(w, x));
        __asm__("" : "+x"(word), "+x"(x));  // added up now, and another factor next, for all the compiler knows
      }
    }
    for (int i = 0; i < 4; ++i) sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(words[i], ones));
  }
  keep(sums);
  return n_rounds * 4 * 8 * 32 * 2;
}

}  // namespace
}  // namespace ferrox
