// Qwen3-Next: three layers of four learn by the gated delta rule, the fourth attends with gated heads; experts
// everywhere.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<void> check_heads(const WeightLoader& loader, const RecurrenceSizes& recurrence) {
  if (recurrence.n_inner == recurrence.n_heads * recurrence.n_states) return {};
  return make_error(ErrorCode::kCorrupt, "{}: {}.ssm.inner_size: expected {} heads of state_size {}, found {}",
                    loader.file().name(), loader.architecture(), recurrence.n_heads, recurrence.n_states,
                    recurrence.n_inner);
}

/// The reference gives these layers' matrices neither scales nor biases.
Result<Linear> read_matrix(WeightLoader& loader, const std::string& name, int64_t n_in, int64_t n_out) {
  TRY_ASSIGN(Linear linear, loader.linear(name, n_in, n_out));
  linear.scale = 1.0f;
  linear.bias.clear();
  return linear;
}

/// blk.<layer>.{attn_qkv,attn_gate,ssm_ba,ssm_conv1d,ssm_dt,ssm_a,ssm_norm,ssm_out}.
Result<DeltaRule> read_delta_rule(WeightLoader& loader, const LayerSizes& sizes, const RecurrenceSizes& recurrence,
                                  int64_t layer) {
  const std::string block = fmt::format("blk.{}.", layer);
  DeltaRule rule;
  rule.n_k_heads = recurrence.n_groups;
  rule.n_v_heads = recurrence.n_heads;
  rule.k_dim = recurrence.n_states;
  rule.v_dim = recurrence.n_states;
  rule.length_epsilon = sizes.norm.epsilon;
  TRY_ASSIGN(rule.qkv, read_matrix(loader, block + "attn_qkv", sizes.n_embd, rule.qkv_width()));
  TRY_ASSIGN(rule.z, read_matrix(loader, block + "attn_gate", sizes.n_embd, recurrence.n_inner));
  TRY_ASSIGN(rule.beta_step, read_matrix(loader, block + "ssm_ba", sizes.n_embd, 2 * rule.n_v_heads));
  TRY_ASSIGN(rule.convolution,
             read_short_convolution(loader, block + "ssm_conv1d", recurrence.n_taps, rule.qkv_width()));
  TRY_ASSIGN(rule.step_bias, loader.vector(block + "ssm_dt.bias", rule.n_v_heads));
  TRY_ASSIGN(rule.rate, loader.vector(block + "ssm_a", rule.n_v_heads));
  TRY_ASSIGN(rule.norm, loader.norm(block + "ssm_norm", rule.v_dim, sizes.norm));
  TRY_ASSIGN(rule.out, read_matrix(loader, block + "ssm_out", recurrence.n_inner, sizes.n_embd));
  for (const char* end : {"weight", "scale", "input_scale"}) {  // q, k, v and z as older files order them
    loader.skip_tensor(block + "ssm_in." + end);
  }
  return rule;
}

/// Which layers are recurrent: the file's list, or all but each `full_attention_interval`th.
Result<std::vector<bool>> read_recurrent_layers(WeightLoader& loader, int64_t n_layers) {
  TRY_ASSIGN(std::vector<bool> layers, loader.flags_of_layers("attention.recurrent_layers", n_layers));
  if (!layers.empty()) return layers;
  if (loader.has_key("attention.recurrent_layers")) {
    TRY_ASSIGN(const int64_t all, loader.size_or("attention.recurrent_layers", 0));
    return std::vector<bool>(static_cast<size_t>(n_layers), all != 0);
  }
  TRY_ASSIGN(const int64_t interval, loader.size_or("full_attention_interval", 4));
  for (int64_t i = 0; i < n_layers; ++i) layers.push_back(interval == 0 || (i + 1) % interval != 0);
  return layers;
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.mlp_scales = MlpScales::kApplied, .gates_heads = true}));
  TRY_ASSIGN(const RecurrenceSizes recurrence, read_recurrence_sizes(loader));
  TRY(check_heads(loader, recurrence));
  TRY_ASSIGN(const std::vector<bool> is_recurrent, read_recurrent_layers(loader, sizes.n_layers));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY_ASSIGN(const float scale, read_attention_scale(loader, sizes.v_dim));
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    const LayerSizes of_layer = sizes.of_layer(i);
    TRY_ASSIGN(DecoderLayer layer, begin_layer(loader, of_layer, i, {.mlp = "post_attention_norm"}));
    if (is_recurrent[static_cast<size_t>(i)]) {
      TRY_ASSIGN(layer.recurrence, read_delta_rule(loader, of_layer, recurrence, i));
    } else {
      TRY(add_attention(loader, of_layer, i, layer));
      layer.attention.scale = scale;
      for (Linear* linear : {&layer.attention.q, &layer.attention.k, &layer.attention.v}) linear->bias.clear();
    }
    TRY(add_mlp(loader, of_layer, i, layer));
    spec.layers.push_back(std::move(layer));
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_qwen3next;
const ArchSpec arch_qwen3next = {.gguf_name = "qwen3next", .load = load};

}  // namespace ferrox
