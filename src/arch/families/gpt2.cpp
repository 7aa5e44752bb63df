// GPT-2: learned positions, layer norms, biases and an MLP without gate.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.norm = NormKind::kLayer, .activation = Activation::kGelu}));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY(read_layers(loader, sizes, spec));
  TRY_ASSIGN(spec.positions, loader.embedding("position_embd", sizes.n_embd, spec.shape.context_length));
  for (DecoderLayer& layer : spec.layers) layer.attention.rope = kNoRope;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gpt2;
const ArchSpec arch_gpt2 = {.gguf_name = "gpt2", .load = load};

}  // namespace ferrox
