// MiMo-V2: wide K and narrow V, sinks, experts chosen by sigmoid and bias after dense first layers, a rope per kind.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.mlp_scales = MlpScales::kApplied}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  TRY_ASSIGN(const double sliding_base, loader.positive_float_or("rope.freq_base_swa", 10000.0));
  spec.ropes.push_back(plain_rope(sizes, RopePairs::kHalves, sliding_base));
  TRY(loader.size_or("leading_dense_block_count", 0));  // the layers' tensors say which are dense
  TRY(read_sinks(loader, spec));
  TRY(apply_windows(loader, sizes, {}, spec));
  choose_ropes(0, 1, spec);
  TRY_ASSIGN(const double value_scale, loader.float_or("attention.value_scale", 0.0));
  for (DecoderLayer& layer : spec.layers) {
    if (value_scale != 0.0) scale_output(layer.attention.out, static_cast<float>(value_scale));
    if (auto* moe = std::get_if<MoeMlp>(&layer.mlp)) moe->routing.gating = Gating::kSigmoid;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_mimo2;
const ArchSpec arch_mimo2 = {.gguf_name = "mimo2", .load = load};

}  // namespace ferrox
