// StableLM: layer norms, partly rotated heads; attention and MLP side by side where there is no second norm.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.norm = NormKind::kLayer}));
  const bool has_mlp_norm = loader.has_tensor("blk.0.ffn_norm.weight");
  TRY_ASSIGN(DecoderSpec spec,
             read_decoder(loader, sizes, RopePairs::kHalves, {.mlp = has_mlp_norm ? "ffn_norm" : nullptr}));
  for (DecoderLayer& layer : spec.layers) {
    if (!has_mlp_norm) share_input(layer);
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_stablelm;
const ArchSpec arch_stablelm = {.gguf_name = "stablelm", .load = load};

}  // namespace ferrox
