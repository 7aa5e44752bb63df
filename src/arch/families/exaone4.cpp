// EXAONE 4: norms after each block alone and on q and k; in the 32B model three layers of four slide and only they
// rotate.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  const NormNames norms = {
      .attention = nullptr, .attention_post = "post_attention_norm", .mlp = nullptr, .mlp_post = "post_ffw_norm"};
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves, norms));
  TRY(apply_windows(loader, sizes, {.window = 4096, .period = 4}, spec));
  if (sizes.n_layers == 64) {
    choose_ropes(kNoRope, 0, spec);
  } else {  // a window that the files of smaller models name counts for none of their layers
    for (DecoderLayer& layer : spec.layers) layer.kv.window = 0;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_exaone4;
const ArchSpec arch_exaone4 = {.gguf_name = "exaone4", .load = load};

}  // namespace ferrox
