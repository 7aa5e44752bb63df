// ERNIE 4.5, dense: llama with its own names of sizes.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kInterleaved));
  for (DecoderLayer& layer : spec.layers)
    layer.attention.out.bias.clear();  // known, and never applied by the reference
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_ernie4_5;
const ArchSpec arch_ernie4_5 = {.gguf_name = "ernie4_5", .load = load};

}  // namespace ferrox
