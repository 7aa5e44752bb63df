#include "nn/buffers.h"

#include <algorithm>
#include <limits>

namespace ferrox {
namespace {

/// Widths that the buffers must hold, over all layers.
struct Widths {
  int64_t q = 0, k = 0, v = 0, attended = 0, n_ff = 0, n_experts = 0, n_used = 1, widest_input = 0;
  int64_t attention_scratch = 0;
  int fewest_kv_heads = std::numeric_limits<int>::max();
  RecurrenceWidths recurrence;
  bool has_shared = false;
  bool has_both = false;  ///< attention and a recurrence in one layer
};

void widen(int64_t& width, int64_t other) { width = std::max(width, other); }

void widen_by_attention(const DecoderLayer& layer, Widths& widths) {
  widen(widths.q, layer.attention.q.n_out);
  widen(widths.k, layer.attention.k.n_out);
  widen(widths.v, layer.attention.v.n_out);
  widen(widths.attended, layer.attention.out.n_in);
  widen(widths.attention_scratch, attention_scratch_floats(layer.kv.k_dim, layer.kv.v_dim));
  widths.fewest_kv_heads = std::min(widths.fewest_kv_heads, layer.kv.n_kv_heads);
  widths.has_both = widths.has_both || is_present(layer.recurrence);
}

void widen_by_recurrence(const Recurrence& recurrence, Widths& widths) {
  const RecurrenceWidths of_layer = widths_of(recurrence);
  widen(widths.recurrence.projected, of_layer.projected);
  widen(widths.recurrence.convolved, of_layer.convolved);
  widen(widths.recurrence.steps, of_layer.steps);
  widen(widths.attended, of_layer.inner);
}

void widen_by_mlp(const DenseMlp& mlp, Widths& widths) { widen(widths.n_ff, mlp.up.n_out); }
void widen_by_mlp(const MoeMlp& mlp, Widths& widths) {
  widen(widths.n_ff, mlp.up.first.n_out);
  widen(widths.n_ff, mlp.shared.up.n_out);
  widen(widths.n_experts, mlp.up.n_experts);
  widen(widths.n_used, mlp.routing.n_used);
  widths.has_shared = widths.has_shared || mlp.shared;
}

Widths widths_of(const DecoderSpec& spec) {
  Widths widths;
  for (const DecoderLayer& layer : spec.layers) {
    if (layer.attention) widen_by_attention(layer, widths);
    widen_by_recurrence(layer.recurrence, widths);
    std::visit([&](const auto& mlp) { widen_by_mlp(mlp, widths); }, layer.mlp);
  }
  widths.widest_input = std::max({static_cast<int64_t>(spec.shape.n_embd), widths.attended, widths.n_ff});
  return widths;
}

}  // namespace

int64_t Buffers::part_floats(int n_threads) const {
  constexpr int64_t kMostFloats = int64_t{1} << 20;
  return n_threads > 1 && fewest_kv_heads < kAttentionPiecesPerThread * n_threads ? kMostFloats : 0;
}

void Buffers::allocate_for_threads(int n_threads) {
  product_scratch = AlignedBuffer<float>(n_threads * product_scratch_stride);
  attention_scratch = AlignedBuffer<float>(n_threads * attention_scratch_stride);
  attention_parts = AlignedBuffer<float>(part_floats(n_threads));
}

uint64_t Buffers::size_bytes(int n_threads) const {
  uint64_t total = blocks.size_bytes();
  for (const auto* buffer : {&normed, &q, &k, &v, &attended, &projected, &convolved, &steps, &beside_attention, &gate,
                             &up, &expert_out, &router, &shared}) {
    total += buffer->size_bytes();
  }
  return total + static_cast<uint64_t>(n_threads * floats_a_thread() + part_floats(n_threads)) * sizeof(float);
}

Buffers allocate_buffers(const DecoderSpec& spec, int64_t rows) {
  const Widths widths = widths_of(spec);
  const int64_t slots = rows * widths.n_used;
  Buffers buffers;
  buffers.normed = AlignedBuffer<float>(rows * spec.shape.n_embd);
  buffers.q = AlignedBuffer<float>(rows * widths.q);
  buffers.k = AlignedBuffer<float>(rows * widths.k);
  buffers.v = AlignedBuffer<float>(rows * widths.v);
  buffers.attended = AlignedBuffer<float>(rows * widths.attended);
  buffers.projected = AlignedBuffer<float>(rows * widths.recurrence.projected);
  buffers.convolved = AlignedBuffer<float>(rows * widths.recurrence.convolved);
  buffers.steps = AlignedBuffer<float>(rows * widths.recurrence.steps);
  buffers.beside_attention = AlignedBuffer<float>(widths.has_both ? rows * spec.shape.n_embd : 0);
  buffers.gate = AlignedBuffer<float>(slots * widths.n_ff);
  buffers.up = AlignedBuffer<float>(slots * widths.n_ff);
  buffers.expert_out = AlignedBuffer<float>(widths.n_experts > 0 ? slots * spec.shape.n_embd : 0);
  buffers.router = AlignedBuffer<float>(rows * widths.n_experts);
  buffers.shared = AlignedBuffer<float>(widths.has_shared ? rows * (spec.shape.n_embd + 1) : 0);
  buffers.blocks = AlignedBuffer<ActBlock>(Activations::n_blocks(slots, widths.widest_input));
  buffers.product_scratch_stride = product_scratch_floats(slots);
  buffers.attention_scratch_stride = widths.attention_scratch;
  buffers.fewest_kv_heads = widths.fewest_kv_heads;
  return buffers;
}

}  // namespace ferrox
