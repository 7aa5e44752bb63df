// How are few activation rows multiplied without turning weight rows into lanes first?
//
// Row after row is read in one straight line: the hardware prefetcher then keeps up with the memory, whereas fetches
// asked for by software share a core's few miss buffers and reach three quarters of that. Integer sums are exact, so
// the order in which a block's products are added doesn't show. What remains of a row's blocks is kept until 16 rows
// are through; from there on lanes are rows again, and the arithmetic is product.inl's.
namespace ferrox {
namespace {

/// How far ahead lines are asked for on the same straight line: anything from 2 to 8 KiB is as good. With it rows come
/// at the speed of a loop that only reads; the hardware prefetcher alone brings three quarters of that.
constexpr int64_t kFetchAheadBytes = 4096;

template <int64_t kBytes>
[[gnu::always_inline]] inline void fetch_ahead(const uint8_t* block) {
  for (int64_t i = 0; i < kBytes; i += 64) __builtin_prefetch(block + kFetchAheadBytes + i, 0, 2);
}

/// What is left of one K-block of 16 weight rows and kRows activation rows.
template <class Format, int kRows>
struct StreamBlock {
  StreamSums<kRows, Format::kScale> sums;
  StreamScales<Format> scales;  ///< what the finishing step needs of the weight rows
};

/// The codes of a block, 64 of them a quarter.
template <class Format>
[[gnu::always_inline]] inline void block_codes(Format, const uint8_t* block, I* codes) {
  unrolled<4>([&]<int kQuarter>()
                  __attribute__((always_inline)) { codes[kQuarter] = row_codes<kQuarter>(Format{}, block); });
}

/// Multiplies n_blocks K-blocks of weight row `row` with kRows activation rows. `in_file`: where the blocks lie in the
/// matrix, if `block` is a copy.
template <class Format, int kRows>
inline void stream_row(const uint8_t* block, const uint8_t* in_file, const ActBlock* acts, int n_blocks, int row,
                       StreamBlock<Format, kRows>* out) {
  constexpr int64_t kBytes = kBlockBytes<Format>;
  for (int i = 0; i < n_blocks; ++i, block += kBytes, in_file += kBytes, acts += kRows) {
    fetch_ahead<kBytes>(in_file);
    I codes[4];
    block_codes(Format{}, block, codes);
    const auto scales = row_scales(Format{}, block);
    I kept[kRows];
    for (int r = 0; r < kRows; ++r) {
      I sums[4];
      for (int j = 0; j < 4; ++j) sums[j] = multiply_64<Format>(codes[j], acts[r].q + 64 * j);
      kept[r] = keep_sums(Format{}, sums, scales, acts[r]);
    }
    out[i].sums.store(row, kept);
    keep_scales(Format{}, block, row, out[i].scales);
  }
}

/// The last k weights of a row, fewer than a K-block: blocks that don't exist are zeros, which change no sum.
template <class Format, int kRows>
inline void stream_row_end(const uint8_t* block, int64_t k, const ActBlock* acts, int row,
                           StreamBlock<Format, kRows>* out) {
  alignas(64) uint8_t padded[kBlockBytes<Format>] = {};
  __builtin_memcpy(padded, block, static_cast<size_t>(k / Format::kBlock * Format::kBytes));
  stream_row<Format, kRows>(padded, block, acts, 1, row, out);
}

/// K-blocks of a row that are kept at a time: 32 KiB of sums, so that they stay in the first cache.
template <class Block>
constexpr int kStreamBlocks = 32 * 1024 / static_cast<int>(sizeof(Block::sums));

/// Multiplies the 16 weight rows from n0 on with kRows activation rows.
template <class Format, int kRows>
[[gnu::noinline]] void stream_codes_tile(const ProductArgs& args, int64_t n0) {
  constexpr int kAtATime = kStreamBlocks<StreamBlock<Format, kRows>>;
  alignas(64) float tile[kRows][16] = {};
  StreamBlock<Format, kRows> blocks[kAtATime];
  const auto* rows = reinterpret_cast<const uint8_t*>(args.weights) + n0 * args.row_bytes;
  const ActBlock* acts = args.acts;
  for (int64_t k_left = args.k; k_left > 0; k_left -= kAtATime * kKBlock) {
    const int n_whole = static_cast<int>(k_left < kAtATime * kKBlock ? k_left / kKBlock : kAtATime);
    const int64_t k_end = n_whole < kAtATime ? k_left % kKBlock : 0;
    for (int row = 0; row < 16; ++row) {
      const uint8_t* from = rows + row * args.row_bytes;
      stream_row<Format, kRows>(from, from, acts, n_whole, row, blocks);
      if (Format::kBlock < kKBlock && k_end > 0) {
        stream_row_end<Format, kRows>(from + n_whole * kBlockBytes<Format>, k_end, acts + n_whole * kRows, row,
                                      blocks + n_whole);
      }
    }
    for (int i = 0; i < n_whole + (k_end > 0); ++i, rows += kBlockBytes<Format>, acts += kRows) {
      Panel<ShapeOf<Format>> panel;
      scales_to_lanes(Format{}, rows, args.row_bytes, blocks[i].scales, panel);
      finish_sums(Format{}, blocks[i].sums, panel, acts, tile);
    }
  }
  for (int r = 0; r < kRows; ++r) __builtin_memcpy(args.out + r * args.out_stride + n0, tile[r], sizeof tile[r]);
}

}  // namespace
}  // namespace ferrox

#include "kernels/body/stream_float.inl"

namespace ferrox {
namespace {

template <class Format, int kRows>
inline void stream_tile(const ProductArgs& args, int64_t n0) {
  if constexpr (Format::kScale == ScaleKind::kFloat) {
    stream_float_tile<Format, kRows>(args, n0);
  } else {
    stream_codes_tile<Format, kRows>(args, n0);
  }
}

}  // namespace
}  // namespace ferrox
