// Qwen3: llama's layers with a norm on each head of q and k, and halves rotated.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(loader, sizes, spec));
  loader.skip_tensor("cls.output.weight");  // the ranking head of Qwen3-Reranker
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen3;
const ArchSpec arch_qwen3 = {.gguf_name = "qwen3", .load = load};

}  // namespace ferrox
