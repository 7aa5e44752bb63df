// Which way is a product computed? All ways give the same bits; the number of activation rows decides.
namespace ferrox {
namespace {

#ifdef FERROX_ISA_STREAM
/// Formats whose weight rows are read in a straight line for few activation rows.
template <class Format>
inline constexpr bool kStreams =
    Format::kScale == ScaleKind::kFloat || kHasUnpackLanes<Format> || kHasBlockCodes<Format>;

template <class Format, int kRows>
inline void product_of_few(const ProductArgs& args) {
  int64_t n = 0;
  for (; n + 16 <= args.n_rows; n += 16) stream_tile<Format, kRows>(args, n);
  if (n < args.n_rows) product_tiles<Format, 1, 1>(args, n);
}

/// As many as args.m says, from kRows on; false when the format doesn't stream that many.
template <class Format, int kRows = 1>
inline bool is_product_of_few(const ProductArgs& args) {
  if constexpr (kStreams<Format> && kRows <= kStreamedRows<Format>) {
    if (args.m != kRows) return is_product_of_few<Format, kRows + 1>(args);
    product_of_few<Format, kRows>(args);
    return true;
  }
  return false;
}
#endif

/// For few activation rows panels only cost; from kFewestRowsOfManyPanels on several pay: each activation is then
/// loaded once for all of them. Several tiles share a walk along K when the activations need it; the rows after them,
/// which are asked for meanwhile, would otherwise only lie in the cache for longer.
template <class Format>
void product(const ProductArgs& args) {
#ifdef FERROX_ISA_STREAM
  if (args.acts_stride == args.m && is_product_of_few<Format>(args)) return;
#endif
  if (args.m >= kManyRows) {
    constexpr int kTiles = kProductTiles * 2 / kManyPanels;
    for (int64_t n = 0; n < args.n_rows; n += kProductTiles * 32) product_tiles<Format, kManyPanels, kTiles>(args, n);
  } else if (args.m >= kFewestRowsOfManyPanels) {
    for (int64_t n = 0; n < args.n_rows; n += kManyPanels * 16) product_tiles<Format, kManyPanels, 1>(args, n);
  } else {
    for (int64_t n = 0; n < args.n_rows; n += 16) product_tiles<Format, 1, 1>(args, n);
  }
}

}  // namespace
}  // namespace ferrox
