// Qwen3-MoE: qwen3 with experts.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.mlp_scales = MlpScales::kApplied}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen3moe;
const ArchSpec arch_qwen3moe = {.gguf_name = "qwen3moe", .load = load};

}  // namespace ferrox
