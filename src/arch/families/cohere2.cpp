// Command R7B and A: attention and MLP side by side behind a layer norm; three layers of four slide, only they rotate.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes,
             read_sizes(loader, {.norm = NormKind::kLayer, .mlp_scales = MlpScales::kApplied}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kInterleaved, {.mlp = nullptr}));
  TRY_ASSIGN(const double logit_scale, loader.require_positive_float("logit_scale"));
  scale_output(spec.output, static_cast<float>(logit_scale));
  TRY(apply_windows(loader, sizes, {.period = 4}, spec));
  choose_ropes(kNoRope, 0, spec);
  for (DecoderLayer& layer : spec.layers) share_input(layer);
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_cohere2;
const ArchSpec arch_cohere2 = {.gguf_name = "cohere2", .load = load};

}  // namespace ferrox
