// OLMoE: norms over all heads of q and k, experts with plain probabilities.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  TRY(norm_all_heads(loader, spec));
  for (DecoderLayer& layer : spec.layers) use_matrices_alone(layer.attention);
  for_each_moe(spec, [](MoeMlp& moe) { moe.routing.normalised = false; });
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_olmoe;
const ArchSpec arch_olmoe = {.gguf_name = "olmoe", .load = load};

}  // namespace ferrox
