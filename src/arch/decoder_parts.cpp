#include "arch/decoder_parts.h"

#include <cmath>

namespace ferrox {
namespace {

std::string block_name(int64_t layer, const char* part) { return fmt::format("blk.{}.{}", layer, part); }

Result<void> check_head_counts(const WeightLoader& loader, const DecoderSizes& sizes) {
  if (sizes.n_heads % sizes.n_kv_heads != 0) {
    return make_error(ErrorCode::kCorrupt,
                      "{}: attention.head_count: expected a multiple of head_count_kv {}, found {}",
                      loader.file().name(), sizes.n_kv_heads, sizes.n_heads);
  }
  if (sizes.n_rotated > sizes.k_dim || sizes.n_rotated % 2 != 0) {
    return make_error(ErrorCode::kCorrupt, "{}: rope.dimension_count: expected an even number up to {}, found {}",
                      loader.file().name(), sizes.k_dim, sizes.n_rotated);
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
  if (sizes.n_experts > 0 && (sizes.n_experts_used < 1 || sizes.n_experts_used > sizes.n_experts)) {
    return make_error(ErrorCode::kCorrupt, "{}: expert_used_count: expected 1 to {}, found {}", loader.file().name(),
                      sizes.n_experts, sizes.n_experts_used);
  }
  return {};
}

Result<YarnScaling> read_yarn(WeightLoader& loader, double factor) {
  YarnScaling yarn;
  yarn.factor = factor;
  TRY_ASSIGN(yarn.original_context, loader.require_positive_float("rope.scaling.original_context_length"));
  TRY_ASSIGN(yarn.attn_factor, loader.float_or("rope.scaling.attn_factor", 1.0));
  TRY_ASSIGN(const double yarn_attn_factor, loader.float_or("rope.scaling.yarn_attn_factor", 1.0));
  yarn.attn_factor *= yarn_attn_factor;
  TRY_ASSIGN(yarn.beta_fast, loader.float_or("rope.scaling.yarn_beta_fast", 32.0));
  TRY_ASSIGN(yarn.beta_slow, loader.float_or("rope.scaling.yarn_beta_slow", 1.0));
  TRY_ASSIGN(const double ext_factor, loader.float_or("rope.scaling.yarn_ext_factor", -1.0));
  if (ext_factor >= 0.0) yarn.ext_factor = ext_factor;
  return yarn;
}

}  // namespace

Result<DecoderSizes> read_sizes(WeightLoader& loader) {
  DecoderSizes sizes;
  TRY_ASSIGN(sizes.n_layers, loader.require_size("block_count"));
  TRY_ASSIGN(sizes.n_embd, loader.require_size("embedding_length"));
  TRY_ASSIGN(sizes.n_heads, loader.require_size("attention.head_count"));
  TRY_ASSIGN(sizes.n_kv_heads, loader.size_or("attention.head_count_kv", sizes.n_heads));
  if (sizes.n_kv_heads == 0) sizes.n_kv_heads = sizes.n_heads;
  TRY_ASSIGN(sizes.k_dim, loader.size_or("attention.key_length", sizes.n_embd / sizes.n_heads));
  TRY_ASSIGN(sizes.v_dim, loader.size_or("attention.value_length", sizes.n_embd / sizes.n_heads));
  if (sizes.k_dim < 1 || sizes.v_dim < 1) {
    return make_error(ErrorCode::kCorrupt, "{}: attention heads: expected at least 1 element, found {} and {}",
                      loader.file().name(), sizes.k_dim, sizes.v_dim);
  }
  TRY_ASSIGN(sizes.n_rotated, loader.size_or("rope.dimension_count", sizes.k_dim));
  TRY_ASSIGN(sizes.n_ff, loader.size_or("feed_forward_length", 0));
  TRY_ASSIGN(const double epsilon, loader.require_positive_float("attention.layer_norm_rms_epsilon"));
  sizes.rms_epsilon = static_cast<float>(epsilon);
  TRY(read_expert_sizes(loader, sizes));
  TRY_ASSIGN(sizes.n_vocab, vocabulary_size(loader));
  TRY(check_head_counts(loader, sizes));
  return sizes;
}

Result<DecoderSpec> begin_decoder(WeightLoader& loader, const DecoderSizes& sizes) {
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
  TRY_ASSIGN(spec.output_norm, loader.rms_norm("output_norm", sizes.n_embd, sizes.rms_epsilon));
  const char* output = loader.has_tensor("output.weight") ? "output" : "token_embd";
  TRY_ASSIGN(spec.output, loader.linear(output, sizes.n_embd, sizes.n_vocab));
  return spec;
}

Result<Rope> read_rope(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs) {
  TRY_ASSIGN(const double base, loader.float_or("rope.freq_base", 10000.0));
  TRY_ASSIGN(const std::string type, loader.string_or("rope.scaling.type", "none"));
  TRY_ASSIGN(double factor, loader.float_or("rope.scaling.factor", 0.0));
  TRY_ASSIGN(const double linear, loader.float_or("rope.scale_linear", 0.0));
  if (factor == 0.0) factor = linear;
  if (!(base > 0.0) || factor < 0.0) {
    return make_error(ErrorCode::kCorrupt, "{}: rope: expected a positive base and factor, found {} and {}",
                      loader.file().name(), base, factor);
  }
  std::vector<float> divisors;
  if (loader.has_tensor("rope_freqs.weight")) {
    TRY_ASSIGN(divisors, loader.vector("rope_freqs.weight", sizes.n_rotated / 2));
  }
  Rope rope;
  rope.pairs = pairs;
  rope.frequencies = rope_frequencies(sizes.n_rotated, base, divisors);
  if (factor == 0.0 || factor == 1.0 || type == "none") return rope;
  if (type == "linear") {
    for (double& frequency : rope.frequencies) frequency /= factor;
  } else if (type == "yarn") {
    TRY_ASSIGN(const YarnScaling yarn, read_yarn(loader, factor));
    apply_yarn(yarn, base, rope);
  } else {
    return make_error(ErrorCode::kUnsupported, "{}: rope.scaling.type: expected none, linear or yarn, found '{}'",
                      loader.file().name(), type);
  }
  return rope;
}

Result<Attention> read_attention(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer) {
  Attention attention;
  const int64_t q_width = sizes.n_heads * sizes.k_dim;
  TRY_ASSIGN(attention.q, loader.linear(block_name(layer, "attn_q"), sizes.n_embd, q_width));
  TRY_ASSIGN(attention.k, loader.linear(block_name(layer, "attn_k"), sizes.n_embd, sizes.n_kv_heads * sizes.k_dim));
  TRY_ASSIGN(attention.v, loader.linear(block_name(layer, "attn_v"), sizes.n_embd, sizes.n_kv_heads * sizes.v_dim));
  TRY_ASSIGN(attention.out, loader.linear(block_name(layer, "attn_output"), sizes.n_heads * sizes.v_dim, sizes.n_embd));
  TRY_ASSIGN(attention.q_norm,
             loader.optional_rms_norm(block_name(layer, "attn_q_norm"), sizes.k_dim, sizes.rms_epsilon));
  TRY_ASSIGN(attention.k_norm,
             loader.optional_rms_norm(block_name(layer, "attn_k_norm"), sizes.k_dim, sizes.rms_epsilon));
  attention.n_heads = static_cast<int>(sizes.n_heads);
  attention.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.k_dim)));
  return attention;
}

/// An MLP matrix: here a file's scale applies to the bias too.
static Result<Linear> read_mlp_linear(WeightLoader& loader, const std::string& name, int64_t n_in, int64_t n_out) {
  TRY_ASSIGN(Linear linear, loader.linear(name, n_in, n_out));
  for (float& bias : linear.bias) bias *= linear.scale;
  return linear;
}

Result<DenseMlp> read_dense_mlp(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer) {
  if (sizes.n_ff < 1) {
    return make_error(ErrorCode::kCorrupt, "{}: feed_forward_length: expected at least 1, found {}",
                      loader.file().name(), sizes.n_ff);
  }
  DenseMlp mlp;
  TRY_ASSIGN(mlp.gate, read_mlp_linear(loader, block_name(layer, "ffn_gate"), sizes.n_embd, sizes.n_ff));
  TRY_ASSIGN(mlp.up, read_mlp_linear(loader, block_name(layer, "ffn_up"), sizes.n_embd, sizes.n_ff));
  TRY_ASSIGN(mlp.down, read_mlp_linear(loader, block_name(layer, "ffn_down"), sizes.n_ff, sizes.n_embd));
  return mlp;
}

Result<MoeMlp> read_moe_mlp(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer) {
  MoeMlp mlp;
  const int64_t n = sizes.n_experts;
  TRY_ASSIGN(mlp.router, loader.linear(block_name(layer, "ffn_gate_inp"), sizes.n_embd, n));
  TRY_ASSIGN(mlp.gate, loader.experts(block_name(layer, "ffn_gate_exps"), sizes.n_embd, sizes.n_ff_expert, n));
  TRY_ASSIGN(mlp.up, loader.experts(block_name(layer, "ffn_up_exps"), sizes.n_embd, sizes.n_ff_expert, n));
  TRY_ASSIGN(mlp.down, loader.experts(block_name(layer, "ffn_down_exps"), sizes.n_ff_expert, sizes.n_embd, n));
  mlp.n_used = static_cast<int>(sizes.n_experts_used);
  return mlp;
}

Result<void> read_prenorm_layers(WeightLoader& loader, const DecoderSizes& sizes, DecoderSpec& spec) {
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    DecoderLayer layer;
    TRY_ASSIGN(layer.attention_norm, loader.rms_norm(block_name(i, "attn_norm"), sizes.n_embd, sizes.rms_epsilon));
    TRY_ASSIGN(layer.attention, read_attention(loader, sizes, i));
    layer.kv = {static_cast<int>(sizes.n_kv_heads), static_cast<int>(sizes.k_dim), static_cast<int>(sizes.v_dim)};
    TRY_ASSIGN(layer.mlp_norm, loader.rms_norm(block_name(i, "ffn_norm"), sizes.n_embd, sizes.rms_epsilon));
    if (loader.has_tensor(block_name(i, "ffn_gate_inp.weight"))) {
      TRY_ASSIGN(layer.mlp, read_moe_mlp(loader, sizes, i));
    } else {
      TRY_ASSIGN(layer.mlp, read_dense_mlp(loader, sizes, i));
    }
    spec.shape.kv_layers.push_back(layer.kv);
    spec.layers.push_back(std::move(layer));
  }
  return {};
}

}  // namespace ferrox
