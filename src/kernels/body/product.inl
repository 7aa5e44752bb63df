// How is a range of weight rows multiplied with all activation rows?
//
// For each tile of 16 or 32 weight rows: for each K-block: unpack the panel once, then run every activation row over
// it. Lanes are weight rows, so no sum crosses lanes. The arithmetic of one output is the same for every number of
// rows:
//   kReal     t = 0; for each sub-block: t = fma(2^shift * sum, scale, t); if mins: t = fnma(2^shift * sum of q, min,
//   t)
//             out = fma(t, d, out)
//   kInteger  t = (sum over sub-blocks of scale * sum) * d_w; if mins: t = fnma(sum of min * sum, dmin, t)
//             out = fma(t, d, out)
//   kFloat    s = 0; for lane in 0 .. 15: t = 0; for i in 0 .. 15, k = 16 * i + lane: t = fma(w, x, t); s = s + t
//             out = out + s; what a last K-block lacks counts as zeros
// where sum is the exact integer sum of (code - zero) * q over the sub-block, and out starts at 0.
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
    if constexpr (kJoinsSteps && Shape::kHasSmallCodes) {
      add_joined(panels, acts, sub);
    } else {
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
  }

 private:
  /// Two steps at a time, where that is cheaper.
  void add_joined(const Panel<Shape>* panels, const ActBlock* acts, int sub) {
#pragma GCC unroll 4
    for (int at = sub * Shape::kSub; at < (sub + 1) * Shape::kSub; at += 8) {
      for (int p = 0; p < kPanels; ++p) {
        const W w0 = load_w<false>(panels[p].codes[at / 4]);
        const W w1 = load_w<false>(panels[p].codes[at / 4 + 1]);
        for (int r = 0; r < kRows; ++r) {
          sum[r][p] = dot8(sum[r][p], w0, w1, load_dword(acts[r].q + at), load_dword(acts[r].q + at + 4));
        }
      }
    }
  }
};

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
    for (int p = 0; p < kPanels; ++p) add_integer(total[r][p], panels[p], acts[r], tile + (r * kPanels + p) * 16);
  }
}

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

/// kRows activation rows from row m0 on, over the K-block that `panels` hold.
template <class Shape, int kRows, int kPanels>
inline void multiply_rows(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int64_t m0, int k,
                          float* tile) {
  tile += m0 * kPanels * 16;
  if constexpr (Shape::kKind == ScaleKind::kFloat) {
    const float* x = args.x + m0 * args.x_stride + k_block * kKBlock;
    if (k < kKBlock) return multiply_float_end<kRows, kPanels>(panels, x, args.x_stride, k, tile);
    multiply_float<kRows, kPanels>(panels, x, args.x_stride, tile);
  } else {
    const ActBlock* acts = args.acts + k_block * args.m + m0;
    if constexpr (Shape::kKind == ScaleKind::kInteger) multiply_integer<Shape, kRows, kPanels>(panels, acts, tile);
    if constexpr (Shape::kKind == ScaleKind::kReal) multiply_real<Shape, kRows, kPanels>(panels, acts, k, tile);
  }
}

/// Lines asked for before each group of activation rows: 32 rows of any format are through in a third of a prompt's.
constexpr int kFetchesPerStep = 4;

/// All activation rows, kRows at a time, then the rest in halves.
template <class Shape, int kRows, int kPanels>
inline int64_t multiply_from(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int64_t m, int k,
                             NextRows& next, float* tile) {
  for (; m + kRows <= args.m; m += kRows) {
    for (int i = 0; i < kFetchesPerStep; ++i) next.step();
    multiply_rows<Shape, kRows, kPanels>(panels, args, k_block, m, k, tile);
  }
  return m;
}

/// As many rows as registers allow share one pass over the panels.
template <class Shape, int kPanels>
[[gnu::noinline]] void multiply_all(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int k,
                                    NextRows next, float* tile) {
  constexpr int kRows = kPanels == 1 ? kOnePanelRows : kManyPanelsRows;
  int64_t m = multiply_from<Shape, kRows, kPanels>(panels, args, k_block, 0, k, next, tile);
  m = multiply_from<Shape, 4, kPanels>(panels, args, k_block, m, k, next, tile);
  m = multiply_from<Shape, 2, kPanels>(panels, args, k_block, m, k, next, tile);
  multiply_from<Shape, 1, kPanels>(panels, args, k_block, m, k, next, tile);
}

/// Activation rows from which on the weights are no longer what is waited for.
constexpr int64_t kManyRows = 64;

/// What a walk over n_tiles tiles from row n0 on unpacks after `tile` of K-block k_block.
template <class Format>
inline NextRows next_rows(const ProductArgs& args, int64_t n0, int64_t tile_rows, int64_t tile, int64_t n_tiles,
                          int64_t k_block) {
  if (args.m < kManyRows) return {};
  constexpr int64_t kBlockBytes = kKBlock / Format::kBlock * Format::kBytes;
  int64_t row = n0 + (tile + 1) * tile_rows;
  if (tile + 1 == n_tiles) {
    row = n0;
    ++k_block;
  }
  if (k_block * kKBlock >= args.k) {
    row = n0 + n_tiles * tile_rows;
    k_block = 0;
  }
  const int64_t left = args.n_rows - row;
  const auto* rows = reinterpret_cast<const uint8_t*>(args.weights) + row * args.row_bytes + k_block * kBlockBytes;
  return {rows, args.row_bytes, left < tile_rows ? left : tile_rows, kBlockBytes};
}

/// Where K-block `k_block` of the 16 rows from `row` on lies; `distance` rows further is what comes next.
template <class Format>
inline PanelSource panel_source(const ProductArgs& args, int64_t row, int64_t distance, int64_t k_block, int k) {
  const auto* weights = reinterpret_cast<const uint8_t*>(args.weights);
  const int64_t block_bytes = k_block * (kKBlock / Format::kBlock) * Format::kBytes;
  const int64_t left = args.n_rows - row;
  const int64_t next_row = row + distance;
  PanelSource source;
  source.rows = weights + row * args.row_bytes + block_bytes;
  source.row_bytes = args.row_bytes;
  source.n_rows = static_cast<int>(left < 0 ? 0 : left < 16 ? left : 16);
  source.k = k;
  source.prefetch = nullptr;
  if (args.m >= kManyRows) return source;
  if (next_row + 16 <= args.n_rows) {
    source.prefetch = weights + next_row * args.row_bytes + 16 * block_bytes;
  } else if (args.next_weights != nullptr) {
    source.prefetch = reinterpret_cast<const uint8_t*>(args.next_weights) + 16 * block_bytes;
  }
  return source;
}

/// Unpacks K-block `k_block` of the kPanels * 16 weight rows from row n0 on.
template <class Format, int kPanels, int kTiles>
inline void unpack_tile(const ProductArgs& args, int64_t n0, int64_t k_block, int k, Panel<ShapeOf<Format>>* panels) {
  for (int p = 0; p < kPanels; ++p) {
    const PanelSource source = panel_source<Format>(args, n0 + p * 16, kTiles * kPanels * 16, k_block, k);
    if constexpr (kHasUnpackLanes<Format>) {
      if (source.n_rows == 16 && k == kKBlock) {
        PanelCodes<Format> codes{panels[p], SpreadPrefetch<kPanelLines<Format>>(source)};
        unpack_lanes(Format{}, source, panels[p], codes);
        continue;
      }
    }
    unpack_panel<Format>(source, panels[p]);
  }
}

/// kTiles tiles of kPanels * 16 weight rows from row n0 on. K-block by K-block over all tiles: a K-block of many
/// activation rows then stays in L2 for all of them, where all K-blocks of them wouldn't.
template <class Format, int kPanels, int kTiles>
inline void product_tiles(const ProductArgs& args, int64_t n0) {
  constexpr int64_t kTileRows = kPanels * 16;
  Panel<ShapeOf<Format>> panels[kPanels];
  const int64_t left = args.n_rows - n0;
  const int64_t n_tiles = left < kTiles * kTileRows ? (left + kTileRows - 1) / kTileRows : kTiles;
  const int64_t tile_floats = args.m * kTileRows;
  __builtin_memset(args.scratch, 0, static_cast<size_t>(n_tiles * tile_floats) * 4);
  for (int64_t k_block = 0; k_block * kKBlock < args.k; ++k_block) {
    const int64_t k_left = args.k - k_block * kKBlock;
    const int k = static_cast<int>(k_left < kKBlock ? k_left : kKBlock);
    for (int64_t tile = 0; tile < n_tiles; ++tile) {
      unpack_tile<Format, kPanels, kTiles>(args, n0 + tile * kTileRows, k_block, k, panels);
      const NextRows next = next_rows<Format>(args, n0, kTileRows, tile, n_tiles, k_block);
      multiply_all<ShapeOf<Format>, kPanels>(panels, args, k_block, k, next, args.scratch + tile * tile_floats);
    }
  }
  for (int64_t m = 0; m < args.m; ++m) {
    float* out = args.out + m * args.out_stride + n0;
    for (int64_t tile = 0; tile < n_tiles; ++tile) {
      const int64_t n_left = left - tile * kTileRows;
      const int64_t n = n_left < kTileRows ? n_left : kTileRows;
      const float* from = args.scratch + tile * tile_floats + m * kTileRows;
      if (n == kTileRows) {
        __builtin_memcpy(out + tile * kTileRows, from, kTileRows * 4);
      } else {
        __builtin_memcpy(out + tile * kTileRows, from, static_cast<size_t>(n) * 4);
      }
    }
  }
}

/// Codes that are multiplied as they come, without a panel between: for few activation rows.
template <class Format, int kRows>
struct DotCodes {
  using Shape = ShapeOf<Format>;
  const ActBlock* acts;
  SpreadPrefetch<kPanelLines<Format>> prefetch;
  I sum[kRows][Shape::kSubs];

  DotCodes(const PanelSource& source, const ActBlock* activations) : acts(activations), prefetch(source) {
    unrolled<kRows>([&]<int r>() __attribute__((always_inline)) {
      unrolled<Shape::kSubs>([&]<int kSub>() __attribute__((always_inline)) {
        sum[r][kSub] = initial_sum<Shape::kZero, Shape::kWide>(q_sum<Shape>(acts[r], kSub));
      });
    });
  }

  template <int kAt, int kStep>
  [[gnu::always_inline]] void put(I codes) {
    constexpr int kSub = kAt / (Shape::kSub / 4);
    prefetch.template step<kStep>();
    const W w = to_w<Shape::kWide>(codes);
    unrolled<kRows>([&]<int r>() __attribute__((always_inline)) {
      sum[r][kSub] = dot4<Shape::kWide>(sum[r][kSub], w, load_dword(acts[r].q + 4 * kAt));
    });
  }

  /// The same steps as multiply_integer and multiply_real take.
  void add_to(const Panel<Shape>& panel, float* tile) const {
    for (int r = 0; r < kRows; ++r) {
      if constexpr (Shape::kKind == ScaleKind::kInteger) {
        I total = zero_i();
        for (int sub = 0; sub < Shape::kSubs; ++sub) {
          total = add_i(total, mul_i(sum[r][sub], load_i(panel.scale[sub])));
        }
        add_integer(total, panel, acts[r], tile + r * 16);
      } else {
        F t = zero_f();
        for (int sub = 0; sub < Shape::kSubs; ++sub) t = add_real(t, sum[r][sub], panel, acts[r], sub);
        float* out = tile + r * 16;
        store_f(out, fma(t, set1_f(acts[r].d), load_f(out)));
      }
    }
  }
};

/// As product_tile, for kRows activation rows and the 16 weight rows from n0 on.
template <class Format, int kRows>
[[gnu::noinline]] void dot_tile(const ProductArgs& args, int64_t n0) {
  alignas(64) float tile[kRows * 16] = {};
  Panel<ShapeOf<Format>> panel;
  for (int64_t k_block = 0; k_block * kKBlock < args.k; ++k_block) {
    const int64_t left = args.k - k_block * kKBlock;
    const int k = static_cast<int>(left < kKBlock ? left : kKBlock);
    const PanelSource source = panel_source<Format>(args, n0, 16, k_block, k);
    const ActBlock* acts = args.acts + k_block * kRows;
    if (Format::kBlock == kKBlock || k == kKBlock) {
      DotCodes<Format, kRows> codes(source, acts);
      unpack_lanes(Format{}, source, panel, codes);
      codes.add_to(panel, tile);
    } else if constexpr (Format::kScale == ScaleKind::kReal) {
      unpack_panel<Format>(source, panel);
      multiply_real<ShapeOf<Format>, kRows, 1>(&panel, acts, k, tile);
    }
  }
  for (int r = 0; r < kRows; ++r) __builtin_memcpy(args.out + r * args.out_stride + n0, tile + r * 16, 64);
}

}  // namespace
}  // namespace ferrox
