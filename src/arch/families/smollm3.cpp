// SmolLM3: llama whose every fourth layer rotates nothing.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kInterleaved));
  TRY(read_layers(loader, sizes, spec));
  TRY_ASSIGN(const float scale, read_attention_scale(loader, sizes.k_dim));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    spec.layers[i].attention.scale = scale;
    if ((i + 1) % 4 == 0) spec.layers[i].attention.rope = kNoRope;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_smollm3;
const ArchSpec arch_smollm3 = {.gguf_name = "smollm3", .load = load};

}  // namespace ferrox
