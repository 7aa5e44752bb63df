#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<Norm> read_layer_norm(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer, const char* name) {
  if (name == nullptr) return Norm{};
  return loader.norm(fmt::format("blk.{}.{}", layer, name), sizes.n_embd, sizes.norm);
}

}  // namespace

Result<DecoderLayer> read_layer(WeightLoader& loader, const DecoderSizes& all_sizes, int64_t index,
                                const NormNames& norms) {
  const DecoderSizes sizes = all_sizes.of_layer(index);
  DecoderLayer layer;
  TRY_ASSIGN(layer.attention_norm, read_layer_norm(loader, sizes, index, norms.attention));
  TRY_ASSIGN(layer.attention, read_attention(loader, sizes, index));
  layer.kv = {static_cast<int>(sizes.n_kv_heads), static_cast<int>(sizes.k_dim), static_cast<int>(sizes.v_dim)};
  TRY_ASSIGN(layer.attention_post_norm, read_layer_norm(loader, sizes, index, norms.attention_post));
  TRY_ASSIGN(layer.mlp_norm, read_layer_norm(loader, sizes, index, norms.mlp));
  if (loader.has_tensor(fmt::format("blk.{}.ffn_gate_inp.weight", index))) {
    TRY_ASSIGN(layer.mlp, read_moe_mlp(loader, sizes, index));
  } else {
    TRY_ASSIGN(layer.mlp, read_dense_mlp(loader, sizes, index));
  }
  TRY_ASSIGN(layer.mlp_post_norm, read_layer_norm(loader, sizes, index, norms.mlp_post));
  return layer;
}

Result<void> read_layers(WeightLoader& loader, const DecoderSizes& sizes, DecoderSpec& spec, const NormNames& norms) {
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    TRY_ASSIGN(DecoderLayer layer, read_layer(loader, sizes, i, norms));
    spec.layers.push_back(std::move(layer));
  }
  return {};
}

void share_input(DecoderLayer& layer) {
  layer.mlp_input = MlpInput::kLayerInput;
  layer.mlp_norm = layer.attention_norm;
}

}  // namespace ferrox
