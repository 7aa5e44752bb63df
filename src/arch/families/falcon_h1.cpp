// Falcon-H1: attention and a selective scan side by side in each layer. Its multipliers are part of the files'
// matrices.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// The MLP's norm, whose tensor's name has no ending.
Result<Norm> read_mlp_norm(WeightLoader& loader, const LayerSizes& sizes, int64_t layer) {
  Norm norm;
  norm.epsilon = sizes.norm.epsilon;
  TRY_ASSIGN(norm.weight, loader.vector(fmt::format("blk.{}.ffn_norm", layer), sizes.n_embd));
  return norm;
}

Result<DecoderLayer> read_hybrid_layer(WeightLoader& loader, const LayerSizes& sizes, const RecurrenceSizes& recurrence,
                                       int64_t index) {
  TRY_ASSIGN(DecoderLayer layer, begin_layer(loader, sizes, index, {.mlp = nullptr}));
  TRY_ASSIGN(layer.mlp_norm, read_mlp_norm(loader, sizes, index));
  TRY(add_attention(loader, sizes, index, layer));
  TRY_ASSIGN(layer.recurrence, read_selective_scan(loader, sizes, recurrence, GroupNorm::kOptional, index));
  TRY(add_mlp(loader, sizes, index, layer));
  return layer;
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(const RecurrenceSizes recurrence, read_recurrence_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  loader.skip_tensor("rope_freqs.weight");  // the reference doesn't divide frequencies by it
  TRY_ASSIGN(const double base, read_rope_base(loader));
  spec.ropes.push_back(plain_rope(sizes, RopePairs::kHalves, base));
  TRY_ASSIGN(const float scale, read_attention_scale(loader, sizes.v_dim));
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    TRY_ASSIGN(DecoderLayer layer, read_hybrid_layer(loader, sizes.of_layer(i), recurrence, i));
    layer.attention.scale = scale;
    layer.attention.out.bias.clear();  // which the reference doesn't add
    spec.layers.push_back(std::move(layer));
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_falcon_h1;
const ArchSpec arch_falcon_h1 = {.gguf_name = "falcon-h1", .load = load};

}  // namespace ferrox
