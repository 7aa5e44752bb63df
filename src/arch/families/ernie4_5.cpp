// ERNIE 4.5, dense: llama with its own names of sizes.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kInterleaved));
  TRY(read_layers(loader, sizes, spec));
  for (DecoderLayer& layer : spec.layers)
    layer.attention.out.bias.clear();  // known, and never applied by the reference
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_ernie4_5;
const ArchSpec arch_ernie4_5 = {.gguf_name = "ernie4_5", .load = load};

}  // namespace ferrox
