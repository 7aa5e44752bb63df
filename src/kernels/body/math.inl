// exp, tanh and softplus on sixteen lanes: one polynomial, one order, so that every ISA gives the same bits.
namespace ferrox {
namespace {

/// e^x: 2^n times a degree-6 polynomial on [-ln2/2, ln2/2]; relative error below 2e-7. Below -87.3 it is 0 (a masked
/// score must weigh nothing), above 88.3 it is the value there; at 0 it is exactly 1. NaN stays NaN.
inline F exp(F x) {
  const F lowest = set1_f(-87.3f);
  const F clamped = min_f(set1_f(88.3f), max_f(lowest, x));
  const I n = round_to_int(mul(clamped, set1_f(1.44269504f)));
  const F nf = to_float(n);
  F r = fnma(nf, set1_f(0.693359375f), clamped);  // ln 2 in two parts: the first has few bits, so n times it is exact
  r = fnma(nf, set1_f(-2.12194440e-4f), r);
  F p = set1_f(1.0f / 720.0f);
  p = fma(p, r, set1_f(1.0f / 120.0f));
  p = fma(p, r, set1_f(1.0f / 24.0f));
  p = fma(p, r, set1_f(1.0f / 6.0f));
  p = fma(p, r, set1_f(0.5f));
  p = fma(p, r, set1_f(1.0f));
  p = fma(p, r, set1_f(1.0f));
  const F power = bits_to_float(shift_left<23>(add_i(n, set1_i(127))));
  return select_less(x, lowest, zero_f(), mul(p, power));
}

inline F sigmoid(F x) {
  const F one = set1_f(1.0f);
  return div(one, add(one, exp(sub(zero_f(), x))));
}

/// tanh(x) = 1 - 2 / (e^2x + 1).
inline F tanh(F x) {
  const F one = set1_f(1.0f);
  return sub(one, div(set1_f(2.0f), add(exp(add(x, x)), one)));
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + u) of u = e^-|x|, and ln(1 + u) = 2 atanh(s) of s = u / (2 + u), which is at most a
/// third: eight terms of its series are within 2e-8. NaN stays NaN.
inline F softplus(F x) {
  const F u = exp(sub(zero_f(), max_f(sub(zero_f(), x), x)));
  const F s = div(u, add(set1_f(2.0f), u));
  const F square = mul(s, s);
  F series = set1_f(1.0f / 15.0f);
  series = fma(series, square, set1_f(1.0f / 13.0f));
  series = fma(series, square, set1_f(1.0f / 11.0f));
  series = fma(series, square, set1_f(1.0f / 9.0f));
  series = fma(series, square, set1_f(1.0f / 7.0f));
  series = fma(series, square, set1_f(1.0f / 5.0f));
  series = fma(series, square, set1_f(1.0f / 3.0f));
  series = fma(series, square, set1_f(1.0f));
  return fma(add(s, s), series, max_f(zero_f(), x));
}

}  // namespace
}  // namespace ferrox
