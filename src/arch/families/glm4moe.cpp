// GLM-4.5 and 4.6: experts chosen by sigmoid and bias, a shared one, dense first layers, norms of q and k in some.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  TRY(leave_out_drafting_layers(loader, sizes));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope_of_sections(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(loader, sizes, spec, {.mlp = "post_attention_norm"}));
  TRY(read_routing(loader, {.gating = Gating::kSigmoid}, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_glm4moe;
const ArchSpec arch_glm4moe = {.gguf_name = "glm4moe", .load = load};

}  // namespace ferrox
