// Qwen2 and Qwen2.5: llama's layers with biases on q, k and v, and halves rotated.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// Files of this family may carry scales beside their MLP matrices, but the reference has never applied them.
void drop_mlp_scales(DecoderLayer& layer) {
  auto* mlp = std::get_if<DenseMlp>(&layer.mlp);
  if (mlp == nullptr) return;
  for (Linear* linear : {&mlp->gate, &mlp->up, &mlp->down}) linear->scale = 1.0f;
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.rope, read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_prenorm_layers(loader, sizes, spec));
  for (DecoderLayer& layer : spec.layers) drop_mlp_scales(layer);
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen2;
const ArchSpec arch_qwen2 = {.gguf_name = "qwen2", .load = load};

}  // namespace ferrox
