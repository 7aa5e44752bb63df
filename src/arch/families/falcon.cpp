// Falcon: attention and an MLP without gate side by side, with one layer norm or one each.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader, NormKind::kLayer));
  sizes.activation = Activation::kGelu;
  sizes.mlp_scales = MlpScales::kIgnored;
  const bool has_two_norms = loader.has_tensor("blk.0.attn_norm_2.weight");
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(loader, sizes, spec, {.attention = has_two_norms ? "attn_norm_2" : "attn_norm", .mlp = "attn_norm"}));
  for (DecoderLayer& layer : spec.layers) layer.mlp_input = MlpInput::kLayerInput;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_falcon;
const ArchSpec arch_falcon = {.gguf_name = "falcon", .load = load};

}  // namespace ferrox
