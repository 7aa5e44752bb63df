// How is a range of weight rows multiplied with all activation rows?
//
// For each tile of 16 or 32 weight rows: for each K-block: unpack the panel once, then run every activation row over
// it. Lanes are weight rows, so no sum crosses lanes. The arithmetic of one output is the same for every number of
// rows:
//   kReal     t = 0; for each sub-block: t = fma(2^e * sum, scale, t); if mins: t = fnma(scaled_sum, min, t)
//             out = fma(t, d, out)
//   kInteger  t = (sum over sub-blocks of scale * sum) * d_w; if mins: t = fnma(sum of min * sum, dmin, t)
//             out = fma(t, d, out)
//   kFloat    t = 0; for each k: t = fma(w, x, t); out = out + t
// where sum is the exact integer sum of (code - zero) * q over the sub-block, and out starts at 0.
namespace ferrox {
namespace {

inline int32_t load_dword(const void* p) {
  int32_t x;
  __builtin_memcpy(&x, p, 4);
  return x;
}

/// Sums of one sub-block for kRows activation rows and kPanels * 16 weight rows.
template <class Shape, int kRows, int kPanels>
struct SubSums {
  I sum[kRows][kPanels];

  SubSums(const Panel<Shape>* panels, const ActBlock* acts, int sub) {
    constexpr int kSteps = Shape::kSub / 4;
    for (int r = 0; r < kRows; ++r) {
      const int32_t neg_sum = Shape::kSub == 16 ? acts[r].neg_sum16[sub] : acts[r].neg_sum32[sub];
      const I start = initial_sum<Shape::kZero, Shape::kWide>(neg_sum);
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
inline void multiply_real(const Panel<Shape>* panels, const ActBlock* acts, int k, float* tile) {
  F t[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) t[r][p] = zero_f();
  }
  const int n_subs = k / Shape::kSub;
  for (int sub = 0; sub < n_subs; ++sub) {
    const SubSums<Shape, kRows, kPanels> sums(panels, acts, sub);
    const int e = sub * Shape::kSub / 32;
    for (int p = 0; p < kPanels; ++p) {
      const F scale = load_f(panels[p].scale[sub]);
      for (int r = 0; r < kRows; ++r) {
        const F sum = scale_pow2(to_float(sums.sum[r][p]), acts[r].pow2[e], acts[r].exponent[e]);
        t[r][p] = fma(sum, scale, t[r][p]);
        if constexpr (Shape::kHasMin) {
          static_assert(Shape::kSub == 32);
          t[r][p] = fnma(set1_f(acts[r].scaled_sum32[sub]), load_f(panels[p].min[sub]), t[r][p]);
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      float* out = tile + (r * kPanels + p) * 16;
      store_f(out, fma(t[r][p], set1_f(acts[r].d), load_f(out)));
    }
  }
}

/// The block's minimums times the activations' sums, exact.
template <class Shape, int kRows, int kPanels>
inline I min_sum(const Panel<Shape>& panel, const ActBlock& act) {
  I sum = zero_i();
  for (int pair = 0; pair < Shape::kSubs / 2; ++pair) {
    const int16_t* sums = Shape::kSub == 16 ? act.sum16 : act.sum32;
    sum = madd16(sum, load_i(panel.min_pairs[pair]), load_dword(sums + 2 * pair));
  }
  return sum;
}

template <class Shape, int kRows, int kPanels>
inline void multiply_integer(const Panel<Shape>* panels, const ActBlock* acts, float* tile) {
  I total[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) total[r][p] = zero_i();
  }
  for (int sub = 0; sub < Shape::kSubs; ++sub) {
    const SubSums<Shape, kRows, kPanels> sums(panels, acts, sub);
    for (int p = 0; p < kPanels; ++p) {
      const I scale = load_i(panels[p].scale[sub]);
      for (int r = 0; r < kRows; ++r) total[r][p] = add_i(total[r][p], mul_i(sums.sum[r][p], scale));
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      F t = mul(to_float(total[r][p]), load_f(panels[p].d));
      if constexpr (Shape::kHasMin) {
        t = fnma(to_float(min_sum<Shape, kRows, kPanels>(panels[p], acts[r])), load_f(panels[p].dmin), t);
      }
      float* out = tile + (r * kPanels + p) * 16;
      store_f(out, fma(t, set1_f(acts[r].d), load_f(out)));
    }
  }
}

template <int kRows, int kPanels>
inline void multiply_float(const Panel<FloatShape>* panels, const float* x, int64_t x_stride, int k, float* tile) {
  F t[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) t[r][p] = zero_f();
  }
  for (int i = 0; i < k; ++i) {
    F w[kPanels];
    for (int p = 0; p < kPanels; ++p) w[p] = load_f(panels[p].w[i]);
    for (int r = 0; r < kRows; ++r) {
      const F xi = set1_f(x[r * x_stride + i]);
      for (int p = 0; p < kPanels; ++p) t[r][p] = fma(w[p], xi, t[r][p]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      float* out = tile + (r * kPanels + p) * 16;
      store_f(out, add(load_f(out), t[r][p]));
    }
  }
}

/// kRows activation rows from row m0 on, over the K-block that `panels` hold.
template <class Shape, int kRows, int kPanels>
inline void multiply_rows(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int64_t m0, int k) {
  float* tile = args.scratch + m0 * kPanels * 16;
  if constexpr (Shape::kKind == ScaleKind::kFloat) {
    const float* x = args.x + m0 * args.x_stride + k_block * kKBlock;
    multiply_float<kRows, kPanels>(panels, x, args.x_stride, k, tile);
  } else {
    const ActBlock* acts = args.acts + k_block * args.m + m0;
    if constexpr (Shape::kKind == ScaleKind::kInteger) multiply_integer<Shape, kRows, kPanels>(panels, acts, tile);
    if constexpr (Shape::kKind == ScaleKind::kReal) multiply_real<Shape, kRows, kPanels>(panels, acts, k, tile);
  }
}

/// All activation rows, kRows at a time, then the rest in halves.
template <class Shape, int kRows, int kPanels>
inline int64_t multiply_from(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int64_t m, int k) {
  for (; m + kRows <= args.m; m += kRows) multiply_rows<Shape, kRows, kPanels>(panels, args, k_block, m, k);
  return m;
}

/// Rows that share one pass over the panel: with 2 panels 6 rows keep 12 + 12 sums, 2 weights and 1 activation in 32
/// registers; with 1 panel 8 rows hide the latency of the multiply-add.
template <class Shape, int kPanels>
[[gnu::noinline]] void multiply_all(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int k) {
  int64_t m = multiply_from < Shape, kPanels == 2 ? 6 : 8, kPanels > (panels, args, k_block, 0, k);
  m = multiply_from<Shape, 4, kPanels>(panels, args, k_block, m, k);
  m = multiply_from<Shape, 2, kPanels>(panels, args, k_block, m, k);
  multiply_from<Shape, 1, kPanels>(panels, args, k_block, m, k);
}

/// Unpacks K-block `k_block` of the kPanels * 16 weight rows from row n0 on.
template <class Format, int kPanels>
inline void unpack_tile(const ProductArgs& args, int64_t n0, int64_t k_block, int k, Panel<ShapeOf<Format>>* panels) {
  const auto* weights = reinterpret_cast<const uint8_t*>(args.weights);
  for (int p = 0; p < kPanels; ++p) {
    const int64_t row = n0 + p * 16;
    const int64_t left = args.n_rows - row;
    const int64_t next_row = row + kPanels * 16;
    PanelSource source;
    source.rows = weights + row * args.row_bytes + k_block * (kKBlock / Format::kBlock) * Format::kBytes;
    source.row_bytes = args.row_bytes;
    source.n_rows = static_cast<int>(left < 0 ? 0 : left < 16 ? left : 16);
    source.k = k;
    source.prefetch = next_row + 16 <= args.n_rows ? weights + next_row * args.row_bytes +
                                                         16 * k_block * (kKBlock / Format::kBlock) * Format::kBytes
                                                   : nullptr;
    if constexpr (kHasUnpackLanes<Format>) {
      if (source.n_rows == 16) {
        unpack_lanes(Format{}, source, panels[p]);
        continue;
      }
    }
    unpack_panel<Format>(source, panels[p]);
  }
}

template <class Format, int kPanels>
inline void product_tile(const ProductArgs& args, int64_t n0) {
  Panel<ShapeOf<Format>> panels[kPanels];
  __builtin_memset(args.scratch, 0, static_cast<size_t>(args.m) * kPanels * 64);
  for (int64_t k_block = 0; k_block * kKBlock < args.k; ++k_block) {
    const int64_t left = args.k - k_block * kKBlock;
    const int k = static_cast<int>(left < kKBlock ? left : kKBlock);
    unpack_tile<Format, kPanels>(args, n0, k_block, k, panels);
    multiply_all<ShapeOf<Format>, kPanels>(panels, args, k_block, k);
  }
  const int64_t n_left = args.n_rows - n0;
  const int64_t n = n_left < kPanels * 16 ? n_left : kPanels * 16;
  for (int64_t m = 0; m < args.m; ++m) {
    __builtin_memcpy(args.out + m * args.out_stride + n0, args.scratch + m * kPanels * 16, static_cast<size_t>(n) * 4);
  }
}

/// From 16 activation rows on, two panels pay: each activation is then loaded once for 32 weight rows.
template <class Format>
void product(const ProductArgs& args) {
  if (args.m >= 16) {
    for (int64_t n = 0; n < args.n_rows; n += 32) product_tile<Format, 2>(args, n);
  } else {
    for (int64_t n = 0; n < args.n_rows; n += 16) product_tile<Format, 1>(args, n);
  }
}

template <class Format>
constexpr ActKind act_kind() {
  return Format::kScale == ScaleKind::kFloat     ? ActKind::kFloat
         : Format::kScale == ScaleKind::kInteger ? ActKind::kInt8
                                                 : ActKind::kInt8Pow2;
}

}  // namespace
}  // namespace ferrox
