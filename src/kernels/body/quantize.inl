// How do float activations become int8 blocks?
//
// kInt8: d = largest magnitude / 127. kInt8Pow2: d is 2^-8 of that, and each 32 have their own power of two: the least
// 2^shift with which their largest magnitude still fits, so that one outlier doesn't flatten the other 224. A block
// with an infinite or NaN activation gets d = NaN, so that it shows.
namespace ferrox {
namespace {

/// Largest magnitudes of a block's activations.
struct Magnitudes {
  alignas(64) float of_32[16] = {};  ///< of each 32, in the first eight; without NaNs
  float top = 0.0f;                  ///< of all; NaN when one of them isn't a number or is infinite

  Magnitudes(const float* x, int n) {
    const I sign_off = set1_i(0x7fffffff);
    F zero_or_nan = zero_f();  // max_f may lose a NaN, a sum of v - v can't
    for (int j = 0; 32 * j < n; ++j) {
      F most = zero_f();
      for (int i = 32 * j; i < 32 * j + 32 && i < n; i += 16) {
        const F v = n - i >= 16 ? load_f(x + i) : load_f_n(x + i, n - i);
        most = max_f(most, and_bits(v, sign_off));
        zero_or_nan = add(zero_or_nan, sub(v, v));
      }
      of_32[j] = hmax(most);
    }
    top = hmax(load_f(of_32)) + hsum(zero_or_nan);
  }
};

/// Below it a block counts as zeros: its reciprocal would not be finite.
constexpr float kTinyActivation = 1e-30f;

constexpr int kMaxShift = 8;

/// The least shift of each 32 with magnitude <= top * 2^(shift - kMaxShift).
inline void least_shifts(const Magnitudes& magnitudes, float* shifts) {
  const F of_32 = load_f(magnitudes.of_32);
  F shift = zero_f();
  float limit = magnitudes.top;
  for (int n = 0; n < kMaxShift; ++n) {
    limit *= 0.5f;
    shift = add(shift, select_less(set1_f(limit), of_32, set1_f(1.0f), zero_f()));
  }
  store_f(shifts, shift);
}

/// Codes of 32 activations, of which max(n, 0) are real.
inline void quantize_32(const float* x, int n, float inverse, int8_t* q) {
  for (int h = 0; h < 2; ++h) {
    const int left = n - 16 * h;
    const F v = left >= 16 ? load_f(x + 16 * h) : left > 0 ? load_f_n(x + 16 * h, left) : zero_f();
    store_i8(q + 16 * h, round_to_int(mul(v, set1_f(inverse))));
  }
}

inline void quantize_block(const float* x, int n, ActKind kind, ActBlock* block) {
  const Magnitudes magnitudes(x, n);
  const float top = magnitudes.top;
  const bool is_zero = top < kTinyActivation;
  const bool is_finite = top <= 0x1.fffffep127f;
  const bool has_codes = is_finite && !is_zero;
  const float inverse = has_codes ? 127.0f / top : 0.0f;
  const int max_shift = kind == ActKind::kInt8Pow2 ? kMaxShift : 0;
  block->d = is_zero ? 0.0f : is_finite ? top / 127.0f / static_cast<float>(1 << max_shift) : __builtin_nanf("");
  alignas(64) float shifts[16];
  if (max_shift > 0) least_shifts(magnitudes, shifts);
  for (int j = 0; j < 8; ++j) {
    const int left = has_codes ? n - j * 32 : 0;  // Without codes nothing is read: 0 * NaN has no int8.
    const int shift = max_shift > 0 && left > 0 ? static_cast<int>(shifts[j]) : max_shift;
    quantize_32(x + j * 32, left, inverse * static_cast<float>(1 << (max_shift - shift)), block->q + j * 32);
    block->shift[j] = static_cast<uint8_t>(shift);
  }
  sum_each_16(block->q, block->sum16);
  for (int j = 0; j < 8; ++j) {
    block->sum32[j] = static_cast<int16_t>(block->sum16[2 * j] + block->sum16[2 * j + 1]);
  }
}

inline void quantize(const float* x, int64_t n, ActKind kind, ActBlock* out, int64_t block_stride) {
  for (int64_t i = 0; i < n; i += kKBlock, out += block_stride) {
    quantize_block(x + i, static_cast<int>(n - i < kKBlock ? n - i : kKBlock), kind, out);
  }
}

}  // namespace
}  // namespace ferrox
