// Granite MoE: granite with experts and a shared one.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kInterleaved));
  TRY(apply_granite_scales(loader, sizes, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_granitemoe;
const ArchSpec arch_granitemoe = {.gguf_name = "granitemoe", .load = load};

}  // namespace ferrox
