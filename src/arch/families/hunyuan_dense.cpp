// Hunyuan dense: norms of q and k after their rotation.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// The base, raised for longer contexts where the file says by how much.
Result<double> read_stretched_base(WeightLoader& loader, const DecoderSizes& sizes) {
  TRY_ASSIGN(const double base, read_rope_base(loader));
  TRY_ASSIGN(const double alpha, loader.float_or("rope.scaling.alpha", 0.0));
  if (alpha <= 0.0) return base;
  const auto dim = static_cast<double>(sizes.k_dim);
  return base * std::pow(alpha, dim / (dim - 2.0));
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY(read_layers(loader, sizes, spec));
  TRY_ASSIGN(const double base, read_stretched_base(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope_of_base(loader, sizes, RopePairs::kHalves, base));
  for (DecoderLayer& layer : spec.layers) layer.attention.rotates_before_norm = true;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_hunyuan_dense;
const ArchSpec arch_hunyuan_dense = {.gguf_name = "hunyuan-dense", .load = load};

}  // namespace ferrox
