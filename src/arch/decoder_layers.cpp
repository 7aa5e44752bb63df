// How are the layers of a decoder read, one like the other?
#include <charconv>
#include <string_view>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<Norm> read_layer_norm(WeightLoader& loader, const LayerSizes& sizes, int64_t layer, const char* name) {
  if (name == nullptr) return Norm{};
  return loader.norm(fmt::format("blk.{}.{}", layer, name), sizes.n_embd, sizes.norm);
}

/// N of a tensor blk.N.<rest>; -1 for others.
int64_t block_of(std::string_view tensor_name) {
  constexpr std::string_view kPrefix = "blk.";
  int64_t block = -1;
  if (tensor_name.starts_with(kPrefix)) {
    std::from_chars(tensor_name.data() + kPrefix.size(), tensor_name.data() + tensor_name.size(), block);
  }
  return block;
}

}  // namespace

Result<DecoderLayer> begin_layer(WeightLoader& loader, const LayerSizes& sizes, int64_t index, const NormNames& norms) {
  DecoderLayer layer;
  TRY_ASSIGN(layer.attention_norm, read_layer_norm(loader, sizes, index, norms.attention));
  TRY_ASSIGN(layer.attention_post_norm, read_layer_norm(loader, sizes, index, norms.attention_post));
  TRY_ASSIGN(layer.mlp_norm, read_layer_norm(loader, sizes, index, norms.mlp));
  TRY_ASSIGN(layer.mlp_post_norm, read_layer_norm(loader, sizes, index, norms.mlp_post));
  return layer;
}

Result<void> add_attention(WeightLoader& loader, const LayerSizes& sizes, int64_t index, DecoderLayer& layer) {
  TRY_ASSIGN(layer.attention, read_attention(loader, sizes, index));
  layer.kv = {static_cast<int>(sizes.n_kv_heads), static_cast<int>(sizes.k_dim), static_cast<int>(sizes.v_dim)};
  return {};
}

Result<void> add_mlp(WeightLoader& loader, const LayerSizes& sizes, int64_t index, DecoderLayer& layer) {
  if (loader.has_tensor(fmt::format("blk.{}.ffn_gate_inp.weight", index))) {
    TRY_ASSIGN(layer.mlp, read_moe_mlp(loader, sizes, index));
  } else {
    TRY_ASSIGN(layer.mlp, read_dense_mlp(loader, sizes, index));
  }
  return {};
}

Result<DecoderLayer> read_layer(WeightLoader& loader, const DecoderSizes& all_sizes, int64_t index,
                                const NormNames& norms) {
  const LayerSizes sizes = all_sizes.of_layer(index);
  TRY_ASSIGN(DecoderLayer layer, begin_layer(loader, sizes, index, norms));
  TRY(add_attention(loader, sizes, index, layer));
  TRY(add_mlp(loader, sizes, index, layer));
  return layer;
}

Result<void> read_layers(WeightLoader& loader, const DecoderSizes& sizes, DecoderSpec& spec, const NormNames& norms) {
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    TRY_ASSIGN(DecoderLayer layer, read_layer(loader, sizes, i, norms));
    spec.layers.push_back(std::move(layer));
  }
  return {};
}

Result<DecoderSpec> read_decoder(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs,
                                 const NormNames& norms) {
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, pairs));
  TRY(read_layers(loader, sizes, spec, norms));
  return spec;
}

Result<void> apply_granite_scales(WeightLoader& loader, const DecoderSizes& sizes, DecoderSpec& spec) {
  TRY_ASSIGN(const double embedding, loader.float_or("embedding_scale", 0.0));
  TRY_ASSIGN(const double residual, loader.float_or("residual_scale", 0.0));
  TRY_ASSIGN(const double logit, loader.require_positive_float("logit_scale"));
  TRY_ASSIGN(const float attention, read_attention_scale(loader, sizes.k_dim));
  if (embedding != 0.0) spec.embedding_scale = static_cast<float>(embedding);
  if (residual != 0.0) spec.residual_scale = static_cast<float>(residual);
  scale_output(spec.output, static_cast<float>(1.0 / logit));
  for (DecoderLayer& layer : spec.layers) layer.attention.scale = attention;
  return {};
}

Result<void> leave_out_drafting_layers(WeightLoader& loader, DecoderSizes& sizes) {
  TRY_ASSIGN(const int64_t n_drafting, loader.size_or("nextn_predict_layers", 0));
  if (n_drafting >= sizes.n_layers) {
    return make_error(ErrorCode::kCorrupt, "{}: {}.nextn_predict_layers: expected fewer than block_count {}, found {}",
                      loader.file().name(), loader.architecture(), sizes.n_layers, n_drafting);
  }
  sizes.n_layers -= n_drafting;
  for (const GgufTensor& tensor : loader.file().tensors()) {
    if (block_of(tensor.name) >= sizes.n_layers) loader.skip_tensor(tensor.name);
  }
  return {};
}

void share_input(DecoderLayer& layer) {
  layer.mlp_input = MlpInput::kLayerInput;
  layer.mlp_norm = layer.attention_norm;
}

}  // namespace ferrox
