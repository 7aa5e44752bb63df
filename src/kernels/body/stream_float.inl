// How are float weights streamed? Lanes run along a row, as product.inl adds it up: lane l has weights l, l + 16, ...
namespace ferrox {
namespace {

/// What is left of one K-block of 16 weight rows and kRows activation rows.
template <int kRows>
struct FloatBlock {
  alignas(64) float sums[kRows][16][16];  ///< a weight row's sum in each lane
};

/// Multiplies k weights of row `row`, up to 256, with kRows activation rows.
template <class Format, int kRows>
inline void stream_floats(const uint8_t* weights, const float* x, int64_t x_stride, int k, int row,
                          FloatBlock<kRows>& out) {
  F t[kRows];
  for (int r = 0; r < kRows; ++r) t[r] = zero_f();
  if (k == kKBlock) {
    fetch_ahead<kKBlock * Format::kBytes>(weights);
    for (int i = 0; i < 16; ++i) {
      const F w = load_elements<Format>(weights + 16 * i * Format::kBytes);
      for (int r = 0; r < kRows; ++r) t[r] = fma(w, load_f(x + r * x_stride + 16 * i), t[r]);
    }
  } else {
    for (int i = 0; i < 16; ++i) {
      const int n = k - 16 * i < 0 ? 0 : k - 16 * i > 16 ? 16 : k - 16 * i;
      const F w = load_elements_n<Format>(weights + 16 * i * Format::kBytes, n);
      for (int r = 0; r < kRows; ++r) t[r] = fma(w, load_f_n(x + r * x_stride + 16 * i, n), t[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) store_f(out.sums[r][row], t[r]);
}

/// Adds 16 rows' sums of a K-block to their outputs.
inline void finish_floats(const float (*sums)[16], float* out) {
  I lanes[16];
  load_lanes(reinterpret_cast<const uint8_t*>(sums), 64, lanes);
  F sum = zero_f();
  for (const I lane : lanes) sum = add(sum, bits_to_float(lane));
  store_f(out, add(load_f(out), sum));
}

/// Multiplies the 16 weight rows from n0 on with kRows activation rows.
template <class Format, int kRows>
[[gnu::noinline]] void stream_float_tile(const ProductArgs& args, int64_t n0) {
  constexpr int kBlocks = kStreamBlocks<FloatBlock<kRows>>;
  constexpr int64_t kAtATime = kBlocks * kKBlock;
  alignas(64) float tile[kRows][16] = {};
  FloatBlock<kRows> blocks[kBlocks];
  const auto* rows = reinterpret_cast<const uint8_t*>(args.weights) + n0 * args.row_bytes;
  for (int64_t first = 0; first < args.k; first += kAtATime) {
    const int64_t last = first + kAtATime < args.k ? first + kAtATime : args.k;
    for (int row = 0; row < 16; ++row) {
      for (int64_t k = first; k < last; k += kKBlock) {
        const int n = static_cast<int>(last - k < kKBlock ? last - k : kKBlock);
        stream_floats<Format, kRows>(rows + row * args.row_bytes + k * Format::kBytes, args.x + k, args.x_stride, n,
                                     row, blocks[(k - first) / kKBlock]);
      }
    }
    for (int64_t k = first; k < last; k += kKBlock) {
      for (int r = 0; r < kRows; ++r) finish_floats(blocks[(k - first) / kKBlock].sums[r], tile[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) __builtin_memcpy(args.out + r * args.out_stride + n0, tile[r], sizeof tile[r]);
}

}  // namespace
}  // namespace ferrox
