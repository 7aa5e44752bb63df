// Command R and R+: attention and MLP side by side behind one layer norm.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.norm = NormKind::kLayer}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kInterleaved, {.mlp = nullptr}));
  TRY_ASSIGN(const double logit_scale, loader.non_negative_float_or("logit_scale", 0.0));
  if (logit_scale != 0.0) scale_output(spec.output, static_cast<float>(logit_scale));
  for (DecoderLayer& layer : spec.layers) share_input(layer);
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_command_r;
const ArchSpec arch_command_r = {.gguf_name = "command-r", .load = load};

}  // namespace ferrox
