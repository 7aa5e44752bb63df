// How are a panel's floats multiplied with activation rows?
namespace ferrox {
namespace {

template <int kRows, int kPanels>
inline void multiply_float(const Panel<FloatShape>* panels, const float* x, int64_t x_stride, float* tile) {
  F sum[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) sum[r][p] = zero_f();
  }
  for (int lane = 0; lane < 16; ++lane) {
    F t[kRows][kPanels];
    for (int r = 0; r < kRows; ++r) {
      for (int p = 0; p < kPanels; ++p) t[r][p] = zero_f();
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; ++i) {
      F w[kPanels];
      for (int p = 0; p < kPanels; ++p) w[p] = load_f(panels[p].w[lane][i]);
      for (int r = 0; r < kRows; ++r) {
        const F xi = set1_f(x[r * x_stride + 16 * i + lane]);
        for (int p = 0; p < kPanels; ++p) t[r][p] = fma(w[p], xi, t[r][p]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int p = 0; p < kPanels; ++p) sum[r][p] = add(sum[r][p], t[r][p]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      float* out = tile + (r * kPanels + p) * 16;
      store_f(out, add(load_f(out), sum[r][p]));
    }
  }
}

/// As multiply_float, where fewer than 256 activations are left.
template <int kRows, int kPanels>
[[gnu::noinline]] void multiply_float_end(const Panel<FloatShape>* panels, const float* x, int64_t x_stride, int k,
                                          float* tile) {
  alignas(64) float padded[kRows][kKBlock] = {};
  for (int r = 0; r < kRows; ++r) __builtin_memcpy(padded[r], x + r * x_stride, static_cast<size_t>(k) * 4);
  multiply_float<kRows, kPanels>(panels, padded[0], kKBlock, tile);
}

}  // namespace
}  // namespace ferrox
