// StarCoder2: layer norms, biases everywhere and an MLP without gate.
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
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_starcoder2;
const ArchSpec arch_starcoder2 = {.gguf_name = "starcoder2", .load = load};

}  // namespace ferrox
