// GPT-NeoX and Pythia: layer norms, biases, an MLP without gate that may stand beside attention.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.norm = NormKind::kLayer, .activation = Activation::kGelu}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves));
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
