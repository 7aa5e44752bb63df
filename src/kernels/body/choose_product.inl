// Which way is a product computed? All ways give the same bits; the number of activation rows decides.
namespace ferrox {
namespace {

/// One activation row: as the ISA streams it, where it does.
template <class Format>
inline void product_of_one(const ProductArgs& args) {
  int64_t n = 0;
  if constexpr (kHasStream<Format>) {
    if (args.k % kKBlock == 0) {
      for (; n + 16 <= args.n_rows; n += 16) stream_tile<Format>(args, n);
    }
  }
  for (; n < args.n_rows; n += 16) dot_tile<Format, 1>(args, n);
}

/// Up to 4 activation rows panels only cost; from 16 on two pay: each activation is then loaded once for 32 weight
/// rows.
template <class Format>
void product(const ProductArgs& args) {
  if constexpr (kHasUnpackLanes<Format>) {
    if (args.m == 1) return product_of_one<Format>(args);
    if (args.m == 2) return dot_rows<Format, 2>(args);
    if (args.m == 3) return dot_rows<Format, 3>(args);
    if (args.m == 4) return dot_rows<Format, 4>(args);
  }
  if (args.m >= 16) {
    for (int64_t n = 0; n < args.n_rows; n += kProductTiles * 32) product_tiles<Format, 2, kProductTiles>(args, n);
  } else {
    for (int64_t n = 0; n < args.n_rows; n += 16) product_tiles<Format, 1, 1>(args, n);
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
