// Granite MoE: granite with experts and a shared one.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kInterleaved));
  TRY(read_layers(loader, sizes, spec));
  TRY(apply_granite_scales(loader, sizes, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_granitemoe;
const ArchSpec arch_granitemoe = {.gguf_name = "granitemoe", .load = load};

}  // namespace ferrox
