// Command R7B and A: attention and MLP side by side behind a layer norm; three layers of four slide, only they rotate.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, NormKind::kLayer));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(const double logit_scale, loader.require_positive_float("logit_scale"));
  scale_output(spec.output, static_cast<float>(logit_scale));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kInterleaved));
  TRY(read_layers(loader, sizes, spec, {.mlp = nullptr}));
  TRY_ASSIGN(const std::vector<int> windows, read_windows(loader, sizes, {.period = 4}));
  set_windows(windows, spec);
  for (DecoderLayer& layer : spec.layers) {
    share_input(layer);
    layer.attention.rope = layer.kv.window > 0 ? 0 : kNoRope;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_cohere2;
const ArchSpec arch_cohere2 = {.gguf_name = "cohere2", .load = load};

}  // namespace ferrox
