// Gemma: scaled embeddings, GELU gates, halves rotated.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.activation = Activation::kGelu}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  spec.embedding_scale = std::sqrt(static_cast<float>(sizes.n_embd));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gemma;
const ArchSpec arch_gemma = {.gguf_name = "gemma", .load = load};

}  // namespace ferrox
