// GPT-NeoX and Pythia: layer norms, biases, an MLP without gate that may stand beside attention.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader, NormKind::kLayer));
  sizes.activation = Activation::kGelu;
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY(read_layers(loader, sizes, spec));
  TRY_ASSIGN(const bool is_parallel, loader.flag_or("use_parallel_residual", true));
  for (DecoderLayer& layer : spec.layers) {
    if (is_parallel) layer.mlp_input = MlpInput::kLayerInput;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gptneox;
const ArchSpec arch_gptneox = {.gguf_name = "gptneox", .load = load};

}  // namespace ferrox
