// The llama family: Llama 1 to 3, Mistral, Mixtral, SmolLM and whatever else was converted to its names.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.mlp_scales = MlpScales::kApplied}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kInterleaved));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_llama;
const ArchSpec arch_llama = {.gguf_name = "llama", .load = load};

}  // namespace ferrox
