// Qwen1.5-MoE and Qwen2-MoE: experts with plain probabilities, and a shared one behind a gate of its own.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  for_each_moe(spec, [](MoeMlp& moe) { moe.routing.normalised = false; });
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen2moe;
const ArchSpec arch_qwen2moe = {.gguf_name = "qwen2moe", .load = load};

}  // namespace ferrox
