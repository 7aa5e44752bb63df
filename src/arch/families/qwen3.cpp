// Qwen3: llama's layers with a norm on each head of q and k, and halves rotated.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.mlp_scales = MlpScales::kApplied}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  loader.skip_tensor("cls.output.weight");  // the ranking head of Qwen3-Reranker
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen3;
const ArchSpec arch_qwen3 = {.gguf_name = "qwen3", .load = load};

}  // namespace ferrox
