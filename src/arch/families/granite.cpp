// Granite: llama with scales for embeddings, scores, residuals and logits.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kInterleaved));
  TRY(apply_granite_scales(loader, sizes, spec));
  TRY_ASSIGN(const bool rotates, loader.flag_or("rope.scaling.finetuned", true));
  for (DecoderLayer& layer : spec.layers) layer.attention.rope = rotates ? 0 : kNoRope;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_granite;
const ArchSpec arch_granite = {.gguf_name = "granite", .load = load};

}  // namespace ferrox
