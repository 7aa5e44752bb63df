// Gemma: scaled embeddings, GELU gates, halves rotated.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.activation = Activation::kGelu;
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  spec.embedding_scale = std::sqrt(static_cast<float>(sizes.n_embd));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(loader, sizes, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gemma;
const ArchSpec arch_gemma = {.gguf_name = "gemma", .load = load};

}  // namespace ferrox
