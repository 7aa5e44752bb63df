// How are the codes of a panel multiplied with activation rows, where no instruction adds four products of bytes to a
// lane?
//
// vpmaddubsw leaves words, each the sum of two products. Words of as many steps as 16 bits hold are added up as they
// are, and one vpmaddwd then widens a lane's two and multiplies them with their scale, or their activations' power of
// two. So small codes take little more than one multiplication each where widening every step takes two.
namespace ferrox {
namespace {

/// Sums that are made where they stand: GCC 12 else multiplies first, keeps the products on the stack and adds them up
/// when all are there, which takes twice as long.
inline __m256i add_words(__m256i a, __m256i b) {
  __m256i sum = _mm256_add_epi16(a, b);
  __asm__("" : "+x"(sum));
  return sum;
}
inline __m256i add_dwords(__m256i a, __m256i b) {
  __m256i sum = _mm256_add_epi32(a, b);
  __asm__("" : "+x"(sum));
  return sum;
}
inline I add_words(I a, I b) { return {add_words(a.lo, b.lo), add_words(a.hi, b.hi)}; }
inline I add_dwords(I a, I b) { return {add_dwords(a.lo, b.lo), add_dwords(a.hi, b.hi)}; }

inline I multiply_words(I a, I b) { return {_mm256_madd_epi16(a.lo, b.lo), _mm256_madd_epi16(a.hi, b.hi)}; }

inline __m256i pair_words(__m256i low, __m256i high) {
  return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}
/// Lanes of two words: the numbers of `low` and of `high`, which fit 16 bits.
inline I pair_words(I low, I high) { return {pair_words(low.lo, high.lo), pair_words(low.hi, high.hi)}; }

/// Products of Shape::kWordSteps steps from step `first` on, as words, for kRows activation rows.
template <class Shape, int kRows>
struct WordSums {
  I sum[kRows];

  [[gnu::always_inline]] WordSums(const Panel<Shape>& panel, const ActBlock* acts, int first) {
    unrolled<Shape::kWordSteps>([&]<int kStep>() __attribute__((always_inline)) {
      const W w = load_w<Shape::kWide>(panel.codes[first + kStep]);
      unrolled<kRows>([&]<int r>() __attribute__((always_inline)) {
        const I products = multiply_bytes<Shape::kWide>(w, load_dword(acts[r].q + 4 * (first + kStep)));
        sum[r] = kStep == 0 ? products : add_words(sum[r], products);
      });
    });
  }
};

/// Sums of words that a sub-block takes.
template <class Shape>
constexpr int kGroups = Shape::kSub / 4 / Shape::kWordSteps;

/// What the codes' zero adds to a row's block sum: zero * (sum of scale * sum of q).
template <class Shape>
inline I zero_sum(const Panel<Shape>& panel, const ActBlock& act) {
  const int16_t* sums = Shape::kSub == 16 ? act.sum16 : act.sum32;
  I sum = zero_i();
  for (int sub = 0; sub < Shape::kSubs; sub += 2) {
    sum = madd16(sum, pair_words(load_i(panel.scale[sub]), load_i(panel.scale[sub + 1])), load_dword(sums + sub));
  }
  return mul_i(sum, set1_i(Shape::kZero));
}

template <class Shape, int kRows>
inline void multiply_integer(const Panel<Shape>& panel, const ActBlock* acts, float* tile) {
  I total[kRows];
  for (int r = 0; r < kRows; ++r) total[r] = zero_i();
  for (int sub = 0; sub < Shape::kSubs; ++sub) {
    const I scale = load_i(panel.scale[sub]);
    const I scales = pair_words(scale, scale);
    unrolled<kGroups<Shape>>([&]<int kGroup>() __attribute__((always_inline)) {
      const WordSums<Shape, kRows> words(panel, acts, sub * Shape::kSub / 4 + kGroup * Shape::kWordSteps);
      unrolled<kRows>([&]<int r>() __attribute__((always_inline)) {
        total[r] = add_dwords(total[r], multiply_words(words.sum[r], scales));
      });
    });
  }
  for (int r = 0; r < kRows; ++r) {
    if constexpr (Shape::kZero != 0 && !Shape::kWide) total[r] = sub_i(total[r], zero_sum(panel, acts[r]));
    add_integer(total[r], panel, acts[r], tile + 16 * r);
  }
}

/// What a row's sums of a K-block are multiplied with and start from.
template <class Shape>
struct RowFactors {
  alignas(32) int32_t power[8];             ///< of each 32: 2^shift in both words
  alignas(32) int32_t start[Shape::kSubs];  ///< of each sub-block: 2^shift * sum of q, times -zero
  alignas(32) float min[Shape::kSubs];      ///< 2^shift * sum of q

  void fill(const ActBlock& act) {
    const __m256i shifts = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(act.shift)));
    store8(power, _mm256_sllv_epi32(_mm256_set1_epi32(0x00010001), shifts));
    if constexpr (Shape::kSub == 32) {
      fill_sums(act.sum32, shifts, 0);
    } else {
      fill_sums(act.sum16, _mm256_permutevar8x32_epi32(shifts, _mm256_set_epi32(3, 3, 2, 2, 1, 1, 0, 0)), 0);
      fill_sums(act.sum16, _mm256_permutevar8x32_epi32(shifts, _mm256_set_epi32(7, 7, 6, 6, 5, 5, 4, 4)), 8);
    }
  }

 private:
  static void store8(void* out, __m256i lanes) { _mm256_store_si256(static_cast<__m256i*>(out), lanes); }

  void fill_sums(const int16_t* sums, __m256i shifts, int first) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sums + first));
    const __m256i shifted = _mm256_sllv_epi32(_mm256_cvtepi16_epi32(words), shifts);
    if constexpr (Shape::kHasMin) _mm256_store_ps(min + first, _mm256_cvtepi32_ps(shifted));
    if constexpr (!Shape::kWide) store8(start + first, _mm256_mullo_epi32(shifted, _mm256_set1_epi32(-Shape::kZero)));
  }
};

template <class Shape, int kRows>
inline void multiply_real(const Panel<Shape>& panel, const ActBlock* acts, int k, float* tile) {
  RowFactors<Shape> factors[kRows];
  F t[kRows];
  for (int r = 0; r < kRows; ++r) {
    factors[r].fill(acts[r]);
    t[r] = zero_f();
  }
  for (int sub = 0; sub < k / Shape::kSub; ++sub) {
    I sum[kRows];
    unrolled<kGroups<Shape>>([&]<int kGroup>() __attribute__((always_inline)) {
      const WordSums<Shape, kRows> words(panel, acts, sub * Shape::kSub / 4 + kGroup * Shape::kWordSteps);
      unrolled<kRows>([&]<int r>() __attribute__((always_inline)) {
        const I part = multiply_words(words.sum[r], set1_i(factors[r].power[sub * Shape::kSub / 32]));
        if constexpr (kGroup > 0) sum[r] = add_dwords(sum[r], part);
        if constexpr (kGroup == 0 && Shape::kWide) sum[r] = part;
        if constexpr (kGroup == 0 && !Shape::kWide) sum[r] = add_dwords(part, set1_i(factors[r].start[sub]));
      });
    });
    unrolled<kRows>([&]<int r>() __attribute__((always_inline)) {
      t[r] = fma(to_float(sum[r]), load_f(panel.scale[sub]), t[r]);
      if constexpr (Shape::kHasMin) t[r] = fnma(set1_f(factors[r].min[sub]), load_f(panel.min[sub]), t[r]);
    });
  }
  for (int r = 0; r < kRows; ++r) {
    float* out = tile + 16 * r;
    store_f(out, fma(t[r], set1_f(acts[r].d), load_f(out)));
  }
}

/// How often a share is stepped on for a group of activation rows.
template <class Shape>
inline constexpr int kShareSteps = 1;

/// As body/multiply_codes.inl states it.
template <class Shape, int kRows, int kPanels>
inline void multiply_codes(const Panel<Shape>* panels, const ActBlock* acts, int k, NextShare&, float* tile) {
  static_assert(kPanels == 1);
  if constexpr (Shape::kKind == ScaleKind::kInteger) multiply_integer<Shape, kRows>(panels[0], acts, tile);
  if constexpr (Shape::kKind == ScaleKind::kReal) multiply_real<Shape, kRows>(panels[0], acts, k, tile);
}

}  // namespace
}  // namespace ferrox
