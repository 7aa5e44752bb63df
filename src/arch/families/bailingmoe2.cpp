// Ling and Ring 2: norms of q and k, experts by groups, sigmoid and bias, a shared one, dense first layers.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  TRY(leave_out_drafting_layers(loader, sizes));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  TRY(read_routing(loader, {}, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_bailingmoe2;
const ArchSpec arch_bailingmoe2 = {.gguf_name = "bailingmoe2", .load = load};

}  // namespace ferrox
