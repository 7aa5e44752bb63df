// gpt-oss: experts with biases behind a clamped gate, attention sinks, every second layer slides.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.activation = Activation::kClampedSilu}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves, {.mlp = "post_attention_norm"}));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_sliding_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_sinks(loader, spec));
  TRY(apply_windows(loader, sizes, {.period = 2}, spec));
  choose_ropes(0, 1, spec);
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gpt_oss;
const ArchSpec arch_gpt_oss = {.gguf_name = "gpt-oss", .load = load};

}  // namespace ferrox
