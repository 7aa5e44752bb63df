// Which way is a product computed? All ways give the same bits; the number of activation rows decides.
namespace ferrox {
namespace {

/// Few activation rows: weight rows in a straight line where the ISA does so, else multiplied as they are taken apart.
template <class Format, int kRows>
inline void product_of_few(const ProductArgs& args) {
  int64_t n = 0;
  if constexpr (kRows <= kStreamedRows) {
    for (; n + 16 <= args.n_rows; n += 16) stream_tile<Format, kRows>(args, n);
  } else {
    for (; n + 16 <= args.n_rows; n += 16) dot_tile<Format, kRows>(args, n);
  }
  if (n < args.n_rows) product_tiles<Format, 1, 1>(args, n);
}

/// Formats that few activation rows are multiplied with in a way of their own.
template <class Format>
inline constexpr bool kHasFew = Format::kScale == ScaleKind::kFloat ? kStreamedRows > 0 : kHasUnpackLanes<Format>;

/// Up to 4 activation rows panels only cost; from 16 on two pay: each activation is then loaded once for 32 weight
/// rows. Several tiles share a walk along K when the activations need it; the rows after them, which are asked for
/// meanwhile, would otherwise only lie in the cache for longer.
template <class Format>
void product(const ProductArgs& args) {
  if constexpr (kHasFew<Format>) {
    if (args.m == 1) return product_of_few<Format, 1>(args);
    if (args.m == 2) return product_of_few<Format, 2>(args);
    if (args.m == 3) return product_of_few<Format, 3>(args);
    if (args.m == 4) return product_of_few<Format, 4>(args);
  }
  if (args.m >= kManyRows) {
    constexpr int kTiles = kProductTiles * 2 / kManyPanels;
    for (int64_t n = 0; n < args.n_rows; n += kProductTiles * 32) product_tiles<Format, kManyPanels, kTiles>(args, n);
  } else if (args.m >= 16 && kManyPanels > 1) {
    for (int64_t n = 0; n < args.n_rows; n += kManyPanels * 16) product_tiles<Format, kManyPanels, 1>(args, n);
  } else {
    for (int64_t n = 0; n < args.n_rows; n += 16) product_tiles<Format, 1, 1>(args, n);
  }
}

}  // namespace
}  // namespace ferrox
