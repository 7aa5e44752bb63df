// OLMoE: norms over all heads of q and k, experts with plain probabilities.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(loader, sizes, spec));
  for (DecoderLayer& layer : spec.layers) {
    layer.attention.norm_span = HeadNormSpan::kAllHeads;
    use_matrices_alone(layer.attention);
  }
  for_each_moe(spec, [](MoeMlp& moe) { moe.routing.normalised = false; });
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_olmoe;
const ArchSpec arch_olmoe = {.gguf_name = "olmoe", .load = load};

}  // namespace ferrox
