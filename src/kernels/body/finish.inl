// How do the integer sums of a K-block become its part of the outputs? What is fixed for every way of multiplying.
namespace ferrox {
namespace {

inline int32_t load_dword(const void* p) {
  int32_t x;
  __builtin_memcpy(&x, p, 4);
  return x;
}

/// The sum of a sub-block's activations.
template <class Shape>
inline int32_t q_sum(const ActBlock& act, int sub) {
  return Shape::kSub == 16 ? act.sum16[sub] : act.sum32[sub];
}

/// A sub-block's part of 16 outputs' block sums.
template <class Shape>
inline F add_real(F t, I sum, const Panel<Shape>& panel, const ActBlock& act, int sub) {
  // Shifted sums stay below 2^28 and have at most 20 bits that count, so they are exact as floats.
  const int shift = act.shift[sub * Shape::kSub / 32];
  t = fma(to_float(shift_left_by(sum, shift)), load_f(panel.scale[sub]), t);
  if constexpr (Shape::kHasMin) {
    t = fnma(set1_f(static_cast<float>(q_sum<Shape>(act, sub) << shift)), load_f(panel.min[sub]), t);
  }
  return t;
}

/// The block's minimums times the activations' sums, exact.
template <class Shape>
inline I min_sum(const Panel<Shape>& panel, const ActBlock& act) {
  I sum = zero_i();
  for (int pair = 0; pair < Shape::kSubs / 2; ++pair) {
    const int16_t* sums = Shape::kSub == 16 ? act.sum16 : act.sum32;
    sum = madd16(sum, load_i(panel.min_pairs[pair]), load_dword(sums + 2 * pair));
  }
  return sum;
}

/// The block's part of 16 outputs, from the sums of its sub-blocks.
template <class Shape>
inline void add_integer(I total, const Panel<Shape>& panel, const ActBlock& act, float* out) {
  F t = mul(to_float(total), load_f(panel.d));
  if constexpr (Shape::kHasMin) t = fnma(to_float(min_sum<Shape>(panel, act)), load_f(panel.dmin), t);
  store_f(out, fma(t, set1_f(act.d), load_f(out)));
}

}  // namespace
}  // namespace ferrox
