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

/// kRows activation rows from row m0 on, over the K-block that `panels` hold.
template <class Shape, int kRows, int kPanels>
inline void multiply_rows(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int64_t m0, int k,
                          NextFetches& next, float* tile) {
  tile += m0 * kPanels * 16;
  if constexpr (Shape::kKind == ScaleKind::kFloat) {
    const float* x = args.x + m0 * args.x_stride + k_block * kKBlock;
    if (k < kKBlock) return multiply_float_end<kRows, kPanels>(panels, x, args.x_stride, k, tile);
    multiply_float<kRows, kPanels>(panels, x, args.x_stride, tile);
  } else {
    const ActBlock* acts = args.acts + k_block * args.acts_stride + m0;
    multiply_codes<Shape, kRows, kPanels>(panels, acts, k, next.share, tile);
  }
}

/// The same for n rows, kMostRows at most.
template <class Shape, int kMostRows, int kPanels>
inline void multiply_group(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int64_t m0, int64_t n,
                           int k, NextFetches& next, float* tile) {
  if constexpr (kMostRows > 1) {
    if (n < kMostRows) {
      return multiply_group<Shape, kMostRows - 1, kPanels>(panels, args, k_block, m0, n, k, next, tile);
    }
  }
  multiply_rows<Shape, kMostRows, kPanels>(panels, args, k_block, m0, k, next, tile);
}

/// As many rows as registers allow share one pass over the panels. Groups are as even as can be: few rows have too few
/// sums to hide the latency of a multiply-add, and take as long as five.
template <class Shape, int kPanels>
[[gnu::noinline]] void multiply_all(const Panel<Shape>* panels, const ProductArgs& args, int64_t k_block, int k,
                                    NextFetches next, float* tile) {
  constexpr int kMostRows = kPanels == 1 ? kOnePanelRows : kManyPanelsRows;
  const int64_t n_groups = (args.m + kMostRows - 1) / kMostRows;
  const int64_t n_rows = args.m / n_groups;
  const int64_t n_larger = args.m % n_groups;  // groups with one row more
  for (int64_t group = 0, m = 0; group < n_groups; ++group) {
    next.rows.step();
    if constexpr (kShareSteps<Shape> == 1) next.share.step();
    const int64_t n = n_rows + (group < n_larger ? 1 : 0);
    multiply_group<Shape, kMostRows, kPanels>(panels, args, k_block, m, n, k, next, tile);
    m += n;
  }
}

/// Activation rows from which on the weights are no longer what is waited for.
constexpr int64_t kManyRows = 64;
/// What a walk over n_tiles tiles from row n0 on unpacks after `tile` of K-block k_block.
template <class Format>
inline NextRows next_rows(const ProductArgs& args, int64_t n0, int64_t tile_rows, int64_t tile, int64_t n_tiles,
                          int64_t k_block) {
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
  const auto* rows =
      reinterpret_cast<const uint8_t*>(args.weights) + row * args.row_bytes + k_block * kBlockBytes<Format>;
  return {rows, args.row_bytes, left < tile_rows ? left : tile_rows, kBlockBytes<Format>, args.m};
}

/// `n` rows from `row` on, or as many of what comes after the range, or nullptr.
inline const uint8_t* rows_after(const ProductArgs& args, int64_t row, int64_t n) {
  if (row + n <= args.n_rows) return reinterpret_cast<const uint8_t*>(args.weights) + row * args.row_bytes;
  return reinterpret_cast<const uint8_t*>(args.next);
}

/// A K-block's share of the rows that come after the tile from n0 on, as they lie: the whole of them is a straight
/// line.
template <class Format>
inline NextShare next_share(const ProductArgs& args, int64_t n0, int64_t tile_rows, int64_t k_block) {
  const uint8_t* rows = rows_after(args, n0 + tile_rows, tile_rows);
  if (rows == nullptr) return {};
  const int64_t share_bytes = tile_rows * kBlockBytes<Format>;
  const int64_t n_groups = (args.m + kStepRows - 1) / kStepRows;
  return {rows + k_block * share_bytes, share_bytes, n_groups * kShareSteps<ShapeOf<Format>>};
}

/// What is asked for between the multiplications of a tile.
template <class Format>
inline NextFetches next_fetches(const ProductArgs& args, int64_t n0, int64_t tile_rows, int64_t tile, int64_t n_tiles,
                                int64_t k_block) {
  if (args.m >= kManyRows) return {next_rows<Format>(args, n0, tile_rows, tile, n_tiles, k_block), {}};
  if (args.m >= kShareRows) return {{}, next_share<Format>(args, n0, tile_rows, k_block)};
  return {};
}

/// Where K-block `k_block` of the 16 rows from `row` on lies; `distance` rows further is what comes next.
template <class Format>
inline PanelSource panel_source(const ProductArgs& args, int64_t row, int64_t distance, int64_t k_block, int k) {
  const auto* weights = reinterpret_cast<const uint8_t*>(args.weights);
  const int64_t block_bytes = k_block * kBlockBytes<Format>;
  const int64_t left = args.n_rows - row;
  PanelSource source;
  source.rows = weights + row * args.row_bytes + block_bytes;
  source.row_bytes = args.row_bytes;
  source.n_rows = static_cast<int>(left < 0 ? 0 : left < 16 ? left : 16);
  source.k = k;
  source.prefetch = nullptr;
  if (args.m >= kShareRows || args.m >= kManyRows) return source;
  const uint8_t* next = rows_after(args, row + distance, 16);
  if (next != nullptr) source.prefetch = next + 16 * block_bytes;
  return source;
}

/// Unpacks K-block `k_block` of the kPanels * 16 weight rows from row n0 on.
template <class Format, int kPanels, int kTiles>
inline void unpack_tile(const ProductArgs& args, int64_t n0, int64_t k_block, int k, Panel<ShapeOf<Format>>* panels) {
  for (int p = 0; p < kPanels; ++p) {
    const PanelSource source = panel_source<Format>(args, n0 + p * 16, kTiles * kPanels * 16, k_block, k);
    if constexpr (kHasUnpackLanes<Format>) {
      if (source.n_rows == 16 && (k == kKBlock || kUnpacksPart<Format>)) {
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
      const NextFetches next = next_fetches<Format>(args, n0, kTileRows, tile, n_tiles, k_block);
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

}  // namespace
}  // namespace ferrox
