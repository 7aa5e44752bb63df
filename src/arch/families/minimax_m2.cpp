// MiniMax-M2: norms over all heads of q and k, experts chosen by sigmoid and bias.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  TRY(norm_all_heads(loader, spec));
  for (DecoderLayer& layer : spec.layers) use_matrices_alone(layer.attention);
  TRY(read_routing(loader, {.gating = Gating::kSigmoid, .normalised = true}, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_minimax_m2;
const ArchSpec arch_minimax_m2 = {.gguf_name = "minimax-m2", .load = load};

}  // namespace ferrox
