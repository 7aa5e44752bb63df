// GLM-4: norms before and after each block, gate and up in one matrix, neighbours rotated, or halves in those that see.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope_of_sections(loader, sizes, RopePairs::kInterleaved));
  TRY(read_layers(loader, sizes, spec, kNormsAround));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_glm4;
const ArchSpec arch_glm4 = {.gguf_name = "glm4", .load = load};

}  // namespace ferrox
