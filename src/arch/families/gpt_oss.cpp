// gpt-oss: experts with biases behind a clamped gate, attention sinks, every second layer slides.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.activation = Activation::kClampedSilu;
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY_ASSIGN(const double full_base, read_rope_base(loader));
  TRY_ASSIGN(const double sliding_base, loader.float_or("rope.freq_base_swa", full_base));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope_of_base(loader, sizes, RopePairs::kHalves, sliding_base));
  TRY(read_layers(loader, sizes, spec, {.mlp = "post_attention_norm"}));
  TRY(read_sinks(loader, spec));
  TRY_ASSIGN(const std::vector<int> windows, read_windows(loader, sizes, {.period = 2}));
  set_windows(windows, spec);
  for (DecoderLayer& layer : spec.layers) layer.attention.rope = layer.kv.window > 0 ? 1 : 0;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gpt_oss;
const ArchSpec arch_gpt_oss = {.gguf_name = "gpt-oss", .load = load};

}  // namespace ferrox
