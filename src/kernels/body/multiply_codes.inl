// How are the codes of a panel multiplied with activation rows, where one instruction adds four products to a lane?
namespace ferrox {
namespace {

/// How often a share is stepped on for a group of activation rows.
template <class Shape>
inline constexpr int kShareSteps = Shape::kKind == ScaleKind::kFloat ? 1 : Shape::kSubs;

/// Sums of one sub-block for kRows activation rows and kPanels * 16 weight rows.
template <class Shape, int kRows, int kPanels>
struct SubSums {
  I sum[kRows][kPanels];

  SubSums(const Panel<Shape>* panels, const ActBlock* acts, int sub) {
    constexpr int kSteps = Shape::kSub / 4;
    for (int r = 0; r < kRows; ++r) {
      const I start = initial_sum<Shape::kZero, Shape::kWide>(q_sum<Shape>(acts[r], sub));
      for (int p = 0; p < kPanels; ++p) sum[r][p] = start;
    }
#pragma GCC unroll 8
    for (int step = 0; step < kSteps; ++step) {
      W w[kPanels];
      for (int p = 0; p < kPanels; ++p) w[p] = load_w<Shape::kWide>(panels[p].codes[sub * kSteps + step]);
      for (int r = 0; r < kRows; ++r) {
        const int32_t x = load_dword(acts[r].q + sub * Shape::kSub + step * 4);
        for (int p = 0; p < kPanels; ++p) sum[r][p] = dot4<Shape::kWide>(sum[r][p], w[p], x);
      }
    }
  }
};

/// One K-block into the output tile, [kRows][kPanels * 16]; `k` weights of it exist.
template <class Shape, int kRows, int kPanels>
inline void multiply_real(const Panel<Shape>* panels, const ActBlock* acts, int k, NextShare& next, float* tile) {
  F t[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) t[r][p] = zero_f();
  }
  const int n_subs = k / Shape::kSub;
  for (int sub = 0; sub < n_subs; ++sub) {
    next.step();
    const SubSums<Shape, kRows, kPanels> sums(panels, acts, sub);
    for (int p = 0; p < kPanels; ++p) {
      for (int r = 0; r < kRows; ++r) t[r][p] = add_real(t[r][p], sums.sum[r][p], panels[p], acts[r], sub);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      float* out = tile + (r * kPanels + p) * 16;
      store_f(out, fma(t[r][p], set1_f(acts[r].d), load_f(out)));
    }
  }
}

template <class Shape, int kRows, int kPanels>
inline void multiply_integer(const Panel<Shape>* panels, const ActBlock* acts, NextShare& next, float* tile) {
  I total[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) total[r][p] = zero_i();
  }
  for (int sub = 0; sub < Shape::kSubs; ++sub) {
    next.step();
    const SubSums<Shape, kRows, kPanels> sums(panels, acts, sub);
    for (int p = 0; p < kPanels; ++p) {
      const I scale = load_i(panels[p].scale[sub]);
      for (int r = 0; r < kRows; ++r) total[r][p] = add_i(total[r][p], mul_i(sums.sum[r][p], scale));
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) add_integer(total[r][p], panels[p], acts[r], tile + (r * kPanels + p) * 16);
  }
}

/// kRows activation rows over the K-block that `panels` hold, into [kRows][kPanels * 16]; `k` weights of it exist.
template <class Shape, int kRows, int kPanels>
inline void multiply_codes(const Panel<Shape>* panels, const ActBlock* acts, int k, NextShare& next, float* tile) {
  if constexpr (Shape::kKind == ScaleKind::kInteger) multiply_integer<Shape, kRows, kPanels>(panels, acts, next, tile);
  if constexpr (Shape::kKind == ScaleKind::kReal) multiply_real<Shape, kRows, kPanels>(panels, acts, k, next, tile);
}

}  // namespace
}  // namespace ferrox
