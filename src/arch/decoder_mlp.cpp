// How is a layer's MLP read, dense or with experts?
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// An MLP matrix: here a file's scale applies to the bias too.
Result<Linear> read_mlp_linear(WeightLoader& loader, const LayerSizes& sizes, const std::string& name, int64_t n_in,
                               int64_t n_out) {
  TRY_ASSIGN(Linear linear, loader.linear(name, n_in, n_out));
  if (sizes.habits.mlp_scales == MlpScales::kIgnored) linear.scale = 1.0f;
  for (float& bias : linear.bias) bias *= linear.scale;
  return linear;
}

Result<ExpertLinear> read_experts(WeightLoader& loader, const LayerSizes& sizes, const std::string& name, int64_t n_in,
                                  int64_t n_out) {
  TRY_ASSIGN(ExpertLinear experts, loader.experts(name, n_in, n_out, sizes.n_experts));
  if (sizes.habits.mlp_scales == MlpScales::kIgnored) experts.scales.clear();
  return experts;
}

/// ffn_gate_exps and ffn_up_exps, or each expert's rows of both one after the other in ffn_gate_up_exps.
Result<void> read_gate_and_up(WeightLoader& loader, const LayerSizes& sizes, const std::string& block, MoeMlp& mlp) {
  const int64_t n_ff = sizes.n_ff_expert;
  if (!loader.has_tensor(block + "ffn_gate_up_exps.weight")) {
    TRY_ASSIGN(mlp.gate, read_experts(loader, sizes, block + "ffn_gate_exps", sizes.n_embd, n_ff));
    TRY_ASSIGN(mlp.up, read_experts(loader, sizes, block + "ffn_up_exps", sizes.n_embd, n_ff));
    return {};
  }
  TRY_ASSIGN(const ExpertLinear both, read_experts(loader, sizes, block + "ffn_gate_up_exps", sizes.n_embd, 2 * n_ff));
  mlp.gate = slice_rows(both, 0, n_ff);
  mlp.up = slice_rows(both, n_ff, n_ff);
  return {};
}

/// How many rows `name` has; 0 when there is none.
int64_t rows_of(const WeightLoader& loader, const std::string& name) {
  const GgufTensor* tensor = loader.file().find_tensor(name);
  return tensor == nullptr || tensor->dims.size() < 2 ? 0 : static_cast<int64_t>(tensor->dims[1]);
}

/// The matrices `ffn_<part><suffix>` of a block.
Result<DenseMlp> read_mlp_of_width(WeightLoader& loader, const LayerSizes& sizes, const std::string& block,
                                   const char* suffix, int64_t n_ff) {
  DenseMlp mlp;
  mlp.activation = sizes.habits.activation;
  const auto name = [&](const char* part) { return block + part + suffix; };
  const std::string up = name("ffn_up");
  if (loader.has_tensor(name("ffn_gate") + ".weight")) {
    TRY_ASSIGN(mlp.gate, read_mlp_linear(loader, sizes, name("ffn_gate"), sizes.n_embd, n_ff));
    TRY_ASSIGN(mlp.up, read_mlp_linear(loader, sizes, up, sizes.n_embd, n_ff));
  } else if (rows_of(loader, up + ".weight") == 2 * n_ff) {
    TRY_ASSIGN(const Linear both, read_mlp_linear(loader, sizes, up, sizes.n_embd, 2 * n_ff));
    mlp.gate = slice_rows(both, 0, n_ff);
    mlp.up = slice_rows(both, n_ff, n_ff);
  } else if (sizes.habits.activation == Activation::kGelu) {
    TRY_ASSIGN(mlp.up, read_mlp_linear(loader, sizes, up, sizes.n_embd, n_ff));
  } else {
    TRY_ASSIGN(mlp.gate, read_mlp_linear(loader, sizes, name("ffn_gate"), sizes.n_embd, n_ff));
  }
  TRY_ASSIGN(mlp.down, read_mlp_linear(loader, sizes, name("ffn_down"), n_ff, sizes.n_embd));
  return mlp;
}

Result<void> read_shared_expert(WeightLoader& loader, const LayerSizes& sizes, const std::string& block, MoeMlp& mlp) {
  const int64_t n_ff = rows_of(loader, block + "ffn_up_shexp.weight");
  if (n_ff == 0) return {};
  TRY_ASSIGN(mlp.shared, read_mlp_of_width(loader, sizes, block, "_shexp", n_ff));
  if (loader.has_tensor(block + "ffn_gate_inp_shexp.weight")) {
    TRY_ASSIGN(mlp.shared_gate, loader.linear(block + "ffn_gate_inp_shexp", sizes.n_embd, 1));
  }
  return {};
}

Result<void> check_groups(const WeightLoader& loader, int64_t n_experts, int64_t n_used, int64_t n_groups,
                          int64_t n_groups_used) {
  const bool fits = n_experts % n_groups == 0 && n_groups_used >= 1 && n_groups_used <= n_groups &&
                    n_experts / n_groups * n_groups_used >= n_used;
  if (fits) return {};
  return make_error(
      ErrorCode::kCorrupt,
      "{}: {}.expert_group_count: expected equal groups of {} experts that hold {} in those used, found {} "
      "groups, {} used",
      loader.file().name(), loader.architecture(), n_experts, n_used, n_groups, n_groups_used);
}

}  // namespace

Result<DenseMlp> read_dense_mlp(WeightLoader& loader, const LayerSizes& sizes, int64_t layer) {
  if (sizes.n_ff < 1) {
    return make_error(ErrorCode::kCorrupt, "{}: {}.feed_forward_length: expected at least 1, found {}",
                      loader.file().name(), loader.architecture(), sizes.n_ff);
  }
  return read_mlp_of_width(loader, sizes, fmt::format("blk.{}.", layer), "", sizes.n_ff);
}

Result<MoeMlp> read_moe_mlp(WeightLoader& loader, const LayerSizes& sizes, int64_t layer) {
  const std::string block = fmt::format("blk.{}.", layer);
  MoeMlp mlp;
  mlp.activation = sizes.habits.activation;
  mlp.routing.n_used = static_cast<int>(sizes.n_experts_used);
  TRY_ASSIGN(mlp.router, loader.linear(block + "ffn_gate_inp", sizes.n_embd, sizes.n_experts));
  TRY(read_gate_and_up(loader, sizes, block, mlp));
  TRY_ASSIGN(mlp.down, read_experts(loader, sizes, block + "ffn_down_exps", sizes.n_ff_expert, sizes.n_embd));
  if (loader.has_tensor(block + "exp_probs_b.bias")) {
    TRY_ASSIGN(mlp.routing.choice_bias, loader.vector(block + "exp_probs_b.bias", sizes.n_experts));
  }
  TRY(read_shared_expert(loader, sizes, block, mlp));
  return mlp;
}

Result<void> read_routing(WeightLoader& loader, const RoutingHabits& habits, DecoderSpec& spec) {
  TRY_ASSIGN(const int64_t function, loader.size_or("expert_gating_func", 0));
  if (function < 0 || function > 2) {
    return make_error(ErrorCode::kUnsupported,
                      "{}: {}.expert_gating_func: expected 1 (softmax) or 2 (sigmoid), found {}", loader.file().name(),
                      loader.architecture(), function);
  }
  TRY_ASSIGN(const bool normalised, loader.flag_or("expert_weights_norm", habits.normalised));
  TRY_ASSIGN(const double scale, loader.float_or("expert_weights_scale", 0.0));
  TRY_ASSIGN(const int64_t n_groups, loader.size_or("expert_group_count", 0));
  TRY_ASSIGN(const int64_t n_groups_used, loader.size_or("expert_group_used_count", 0));
  for (const char* known_by_tensors : {"leading_dense_block_count", "expert_shared_count"}) {
    TRY(loader.size_or(known_by_tensors, 0));
  }
  for (DecoderLayer& layer : spec.layers) {
    auto* moe = std::get_if<MoeMlp>(&layer.mlp);
    if (moe == nullptr) continue;
    Routing& routing = moe->routing;
    routing.gating = function == 0 ? habits.gating : function == 1 ? Gating::kSoftmax : Gating::kSigmoid;
    routing.normalised = normalised || habits.normalised;
    if (scale != 0.0) routing.scale = static_cast<float>(scale);
    if (n_groups > 1) {
      TRY(check_groups(loader, moe->up.n_experts, routing.n_used, n_groups, n_groups_used));
      routing.n_groups = static_cast<int>(n_groups);
      routing.n_groups_used = static_cast<int>(n_groups_used);
    }
  }
  return {};
}

}  // namespace ferrox
