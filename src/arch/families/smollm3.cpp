// SmolLM3: llama whose every fourth layer rotates nothing.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kInterleaved));
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
