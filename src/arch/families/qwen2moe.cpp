// Qwen1.5-MoE and Qwen2-MoE: experts with plain probabilities, and a shared one behind a gate of its own.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(loader, sizes, spec));
  for_each_moe(spec, [](MoeMlp& moe) { moe.routing.normalised = false; });
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen2moe;
const ArchSpec arch_qwen2moe = {.gguf_name = "qwen2moe", .load = load};

}  // namespace ferrox
