// Which sizes does a decoder have, by its metadata?
#include <algorithm>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<void> check_head_counts(const WeightLoader& loader, const DecoderSizes& sizes) {
  const bool may_lack_attention = sizes.habits.attention == AttentionHabit::kSomeLayers;
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    const LayerSizes of_layer = sizes.of_layer(i);
    if (may_lack_attention && of_layer.n_kv_heads == 0) continue;
    if (of_layer.n_heads < 1) {
      return make_error(ErrorCode::kCorrupt, "{}: {}.attention.head_count: expected 1 to 2^24 in layer {}, found {}",
                        loader.file().name(), loader.architecture(), i, of_layer.n_heads);
    }
    if (of_layer.n_kv_heads < 1 || of_layer.n_heads % of_layer.n_kv_heads != 0) {
      return make_error(ErrorCode::kCorrupt,
                        "{}: {}.attention.head_count: expected a multiple of head_count_kv {} in layer {}, found {}",
                        loader.file().name(), loader.architecture(), of_layer.n_kv_heads, i, of_layer.n_heads);
    }
  }
  if (sizes.n_rotated > sizes.k_dim || sizes.n_rotated % 2 != 0) {
    return make_error(ErrorCode::kCorrupt, "{}: {}.rope.dimension_count: expected an even number up to {}, found {}",
                      loader.file().name(), loader.architecture(), sizes.k_dim, sizes.n_rotated);
  }
  if (sizes.k_dim > 1024 || sizes.v_dim > 1024) {
    return make_error(ErrorCode::kUnsupported, "{}: attention heads: expected at most 1024 elements, found {} and {}",
                      loader.file().name(), sizes.k_dim, sizes.v_dim);
  }
  return {};
}

/// The vocabulary's size: the embedding tensor says it, whatever the metadata claims.
Result<int64_t> vocabulary_size(const WeightLoader& loader) {
  const GgufTensor* embedding = loader.file().find_tensor("token_embd.weight");
  if (embedding == nullptr || embedding->dims.size() != 2 || embedding->dims[1] > (uint64_t{1} << 24)) {
    return make_error(ErrorCode::kCorrupt, "{}: expected a matrix token_embd.weight of up to 2^24 rows, found {}",
                      loader.file().name(), embedding == nullptr ? "none" : "another shape");
  }
  return static_cast<int64_t>(embedding->dims[1]);
}

Result<void> read_expert_sizes(WeightLoader& loader, DecoderSizes& sizes) {
  TRY_ASSIGN(sizes.n_experts, loader.size_or("expert_count", 0));
  TRY_ASSIGN(sizes.n_experts_used, loader.size_or("expert_used_count", 0));
  TRY_ASSIGN(sizes.n_ff_expert, loader.size_or("expert_feed_forward_length", 0));
  if (sizes.n_ff_expert == 0) sizes.n_ff_expert = sizes.n_ff;
  TRY_ASSIGN(sizes.n_ff_shared, loader.size_or("expert_shared_feed_forward_length", 0));
  if (sizes.n_experts > 0 && (sizes.n_experts_used < 1 || sizes.n_experts_used > sizes.n_experts)) {
    return make_error(ErrorCode::kCorrupt, "{}: {}.expert_used_count: expected 1 to {}, found {}", loader.file().name(),
                      loader.architecture(), sizes.n_experts, sizes.n_experts_used);
  }
  return {};
}

/// Heads, which a file may name layer by layer.
Result<void> read_head_counts(WeightLoader& loader, DecoderSizes& sizes) {
  const bool some_attend = sizes.habits.attention == AttentionHabit::kSomeLayers;
  TRY_ASSIGN(sizes.heads_of_layer, loader.sizes_of_layers("attention.head_count", sizes.n_layers, 0));
  TRY_ASSIGN(sizes.kv_heads_of_layer, loader.sizes_of_layers("attention.head_count_kv", sizes.n_layers, 0));
  for (size_t i = 0; i < sizes.kv_heads_of_layer.size(); ++i) {
    if (sizes.kv_heads_of_layer[i] == 0 && !some_attend) sizes.kv_heads_of_layer[i] = sizes.heads_of_layer[i];
  }
  const auto attends = [](int64_t n_kv_heads) { return n_kv_heads > 0; };
  const auto first = std::find_if(sizes.kv_heads_of_layer.begin(), sizes.kv_heads_of_layer.end(), attends);
  if (first == sizes.kv_heads_of_layer.end()) return {};
  sizes.n_kv_heads = *first;
  sizes.n_heads = sizes.heads_of_layer[static_cast<size_t>(first - sizes.kv_heads_of_layer.begin())];
  return {};
}

Result<void> read_ff_sizes(WeightLoader& loader, DecoderSizes& sizes) {
  TRY_ASSIGN(sizes.ff_of_layer, loader.sizes_of_layers("feed_forward_length", sizes.n_layers, 0));
  sizes.n_ff = sizes.ff_of_layer[0];
  return {};
}

Result<void> read_head_sizes(WeightLoader& loader, DecoderSizes& sizes) {
  const int64_t even_share = sizes.n_heads > 0 ? sizes.n_embd / sizes.n_heads : 0;
  TRY_ASSIGN(sizes.k_dim, loader.size_or("attention.key_length", even_share));
  TRY_ASSIGN(sizes.v_dim, loader.size_or("attention.value_length", even_share));
  if (sizes.k_dim < 1 || sizes.v_dim < 1) {
    return make_error(ErrorCode::kCorrupt, "{}: attention heads: expected at least 1 element, found {} and {}",
                      loader.file().name(), sizes.k_dim, sizes.v_dim);
  }
  TRY_ASSIGN(sizes.n_rotated, loader.size_or("rope.dimension_count", sizes.k_dim));
  return {};
}

}  // namespace

LayerSizes DecoderSizes::of_layer(int64_t layer) const {
  const auto i = static_cast<size_t>(layer);
  LayerSizes sizes = *this;
  if (habits.attention != AttentionHabit::kNoLayer) {
    sizes.n_heads = heads_of_layer[i];
    sizes.n_kv_heads = kv_heads_of_layer[i];
  }
  sizes.n_ff = ff_of_layer[i];
  return sizes;
}

Result<DecoderSizes> read_sizes(WeightLoader& loader, const DecoderHabits& habits) {
  DecoderSizes sizes;
  sizes.habits = habits;
  TRY_ASSIGN(sizes.n_layers, loader.require_size("block_count"));
  if (const auto n_tensors = std::ssize(loader.file().tensors()); sizes.n_layers > n_tensors) {
    return make_error(ErrorCode::kCorrupt, "{}: {}.block_count: expected no more layers than the {} tensors, found {}",
                      loader.file().name(), loader.architecture(), n_tensors, sizes.n_layers);
  }
  TRY_ASSIGN(sizes.n_embd, loader.require_size("embedding_length"));
  TRY(read_ff_sizes(loader, sizes));
  if (habits.attention != AttentionHabit::kNoLayer) {
    TRY(read_head_counts(loader, sizes));
    TRY(read_head_sizes(loader, sizes));
    TRY(check_head_counts(loader, sizes));
  }
  const char* key = habits.norm == NormKind::kRms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
  TRY_ASSIGN(const double epsilon, loader.require_positive_float(key));
  sizes.norm = {habits.norm, static_cast<float>(epsilon)};
  TRY(read_expert_sizes(loader, sizes));
  TRY_ASSIGN(sizes.n_vocab, vocabulary_size(loader));
  return sizes;
}

Result<DecoderSpec> begin_decoder(WeightLoader& loader, const DecoderSizes& sizes, const std::string& output_norm) {
  DecoderSpec spec;
  spec.shape.architecture = loader.architecture();
  TRY_ASSIGN(spec.shape.name, loader.file().metadata().get_string_or("general.name", ""));
  TRY_ASSIGN(spec.shape.context_length, loader.require_size("context_length"));
  spec.shape.n_vocab = static_cast<int32_t>(sizes.n_vocab);
  spec.shape.n_embd = static_cast<int32_t>(sizes.n_embd);
  spec.shape.n_layers = static_cast<int32_t>(sizes.n_layers);
  spec.shape.weight_bytes = loader.file().tensor_bytes();
  for (const GgufTensor& tensor : loader.file().tensors()) spec.shape.n_parameters += tensor.n_elements;
  TRY_ASSIGN(spec.embedding, loader.embedding("token_embd", sizes.n_embd, sizes.n_vocab));
  TRY_ASSIGN(spec.output_norm, loader.norm(output_norm, sizes.n_embd, sizes.norm));
  if (loader.has_tensor("output.weight")) {
    TRY_ASSIGN(spec.output, loader.linear("output", sizes.n_embd, sizes.n_vocab));
  } else {
    TRY_ASSIGN(spec.output, loader.bare_linear("token_embd", sizes.n_embd, sizes.n_vocab));
  }
  return spec;
}

}  // namespace ferrox
