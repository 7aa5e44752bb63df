// Qwen2 and Qwen2.5: llama's layers with biases on q, k and v, and halves rotated.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen2;
const ArchSpec arch_qwen2 = {.gguf_name = "qwen2", .load = load};

}  // namespace ferrox
