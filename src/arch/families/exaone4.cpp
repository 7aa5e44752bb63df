// EXAONE 4: norms after each block alone and on q and k; in the 32B model three layers of four slide and only they
// rotate.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(
      loader, sizes, spec,
      {.attention = nullptr, .attention_post = "post_attention_norm", .mlp = nullptr, .mlp_post = "post_ffw_norm"}));
  TRY_ASSIGN(const std::vector<int> windows, read_windows(loader, sizes, {.window = 4096, .period = 4}));
  if (sizes.n_layers != 64) return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
  set_windows(windows, spec);
  for (DecoderLayer& layer : spec.layers) layer.attention.rope = layer.kv.window > 0 ? 0 : kNoRope;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_exaone4;
const ArchSpec arch_exaone4 = {.gguf_name = "exaone4", .load = load};

}  // namespace ferrox
