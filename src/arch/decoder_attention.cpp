// How is a layer's attention read from a file?
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// blk.<layer>.attn_{q,k,v}, or their rows one after the other in attn_qkv.
Result<void> read_projections(WeightLoader& loader, const LayerSizes& sizes, const std::string& block,
                              Attention& attention) {
  attention.gates_heads = sizes.habits.gates_heads;
  const int64_t q_width = sizes.n_heads * (sizes.k_dim + (attention.gates_heads ? sizes.v_dim : 0));
  const int64_t k_width = sizes.n_kv_heads * sizes.k_dim;
  const int64_t v_width = sizes.n_kv_heads * sizes.v_dim;
  if (!loader.has_tensor(block + "attn_qkv.weight")) {
    TRY_ASSIGN(attention.q, loader.linear(block + "attn_q", sizes.n_embd, q_width));
    TRY_ASSIGN(attention.k, loader.linear(block + "attn_k", sizes.n_embd, k_width));
    TRY_ASSIGN(attention.v, loader.linear(block + "attn_v", sizes.n_embd, v_width));
    return {};
  }
  TRY_ASSIGN(const Linear fused, loader.linear(block + "attn_qkv", sizes.n_embd, q_width + k_width + v_width));
  attention.q = slice_rows(fused, 0, q_width);
  attention.k = slice_rows(fused, q_width, k_width);
  attention.v = slice_rows(fused, q_width + k_width, v_width);
  return {};
}

}  // namespace

Result<Attention> read_attention(WeightLoader& loader, const LayerSizes& sizes, int64_t layer) {
  const std::string block = fmt::format("blk.{}.", layer);
  Attention attention;
  TRY(read_projections(loader, sizes, block, attention));
  TRY_ASSIGN(attention.out, loader.linear(block + "attn_output", sizes.n_heads * sizes.v_dim, sizes.n_embd));
  TRY_ASSIGN(attention.q_norm, loader.head_norm(block + "attn_q_norm", sizes.n_heads, sizes.k_dim, sizes.norm));
  TRY_ASSIGN(attention.k_norm, loader.head_norm(block + "attn_k_norm", sizes.n_kv_heads, sizes.k_dim, sizes.norm));
  attention.n_heads = static_cast<int>(sizes.n_heads);
  attention.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.k_dim)));
  return attention;
}

Result<void> apply_windows(WeightLoader& loader, const DecoderSizes& sizes, const WindowHabits& habits,
                           DecoderSpec& spec) {
  TRY_ASSIGN(const int64_t window, loader.size_or("attention.sliding_window", habits.window));
  TRY_ASSIGN(const std::vector<bool> slides,
             loader.flags_of_layers("attention.sliding_window_pattern", sizes.n_layers));
  int64_t period = habits.period;
  if (slides.empty()) {
    TRY_ASSIGN(period, loader.size_or("attention.sliding_window_pattern", habits.period));
  }
  for (int64_t i = 0; i < sizes.n_layers; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_sliding = slides.empty() ? period == 0 || i % period < period - 1 : slides[at];
    spec.layers[at].kv.window = is_sliding ? static_cast<int>(window) : 0;
  }
  return {};
}

void choose_ropes(int full, int sliding, DecoderSpec& spec) {
  for (DecoderLayer& layer : spec.layers) layer.attention.rope = layer.kv.window > 0 ? sliding : full;
}

Result<float> read_attention_scale(WeightLoader& loader, int64_t width) {
  TRY_ASSIGN(const double scale, loader.float_or("attention.scale", 0.0));
  if (scale == 0.0 && width < 1) {
    return make_error(ErrorCode::kCorrupt, "{}: attention heads: expected at least 1 element of embedding_length each",
                      loader.file().name());
  }
  return static_cast<float>(scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(width)));
}

Result<void> norm_all_heads(const WeightLoader& loader, DecoderSpec& spec) {
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    Attention& attention = spec.layers[i].attention;
    attention.norm_span = HeadNormSpan::kAllHeads;
    const KvLayerShape& shape = spec.layers[i].kv;
    const auto check = [&](const char* name, const Norm& norm, int n_heads) -> Result<void> {
      const size_t expected = static_cast<size_t>(n_heads) * static_cast<size_t>(shape.k_dim);
      if (!norm || norm.weight.size() == expected) return {};
      return make_error(ErrorCode::kCorrupt, "{}: tensor blk.{}.{}.weight: expected {} elements of all heads, found {}",
                        loader.file().name(), i, name, expected, norm.weight.size());
    };
    TRY(check("attn_q_norm", attention.q_norm, attention.n_heads));
    TRY(check("attn_k_norm", attention.k_norm, shape.n_kv_heads));
  }
  return {};
}

Result<void> read_sinks(WeightLoader& loader, DecoderSpec& spec) {
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const std::string name = fmt::format("blk.{}.attn_sinks.weight", i);
    if (!loader.has_tensor(name)) continue;
    Attention& attention = spec.layers[i].attention;
    TRY_ASSIGN(attention.sinks, loader.vector(name, attention.n_heads));
  }
  return {};
}

void use_matrices_alone(Attention& attention) {
  for (Linear* linear : {&attention.q, &attention.k, &attention.v}) {
    linear->scale = 1.0f;
    linear->bias.clear();
  }
}

}  // namespace ferrox
