// Falcon: attention and an MLP without gate side by side, with one layer norm or one each.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.norm = NormKind::kLayer, .activation = Activation::kGelu}));
  const bool has_two_norms = loader.has_tensor("blk.0.attn_norm_2.weight");
  TRY_ASSIGN(DecoderSpec spec,
             read_decoder(loader, sizes, RopePairs::kHalves,
                          {.attention = has_two_norms ? "attn_norm_2" : "attn_norm", .mlp = "attn_norm"}));
  for (DecoderLayer& layer : spec.layers) layer.mlp_input = MlpInput::kLayerInput;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_falcon;
const ArchSpec arch_falcon = {.gguf_name = "falcon", .load = load};

}  // namespace ferrox
