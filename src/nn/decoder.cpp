#include "nn/decoder.h"

#include <algorithm>

#include "base/check.h"
#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/pass.h"
#include "tensor/attention_kinds.h"

namespace ferrox {
namespace {

/// Widths that the buffers must hold, over all layers.
struct Widths {
  int64_t q = 0, k = 0, v = 0, attended = 0, n_ff = 0, n_experts = 0, n_used = 1, widest_input = 0;
  int64_t attention_scratch = 0;
};

void widen(int64_t& width, int64_t other) { width = std::max(width, other); }

void widen_by_mlp(const DenseMlp& mlp, Widths& widths) { widen(widths.n_ff, mlp.gate.n_out); }
void widen_by_mlp(const MoeMlp& mlp, Widths& widths) {
  widen(widths.n_ff, mlp.gate.first.n_out);
  widen(widths.n_experts, mlp.gate.n_experts);
  widen(widths.n_used, mlp.n_used);
}

Widths widths_of(const DecoderSpec& spec) {
  Widths widths;
  for (const DecoderLayer& layer : spec.layers) {
    widen(widths.q, layer.attention.q.n_out);
    widen(widths.k, layer.attention.k.n_out);
    widen(widths.v, layer.attention.v.n_out);
    widen(widths.attended, layer.attention.out.n_in);
    widen(widths.attention_scratch, attention_scratch_floats(layer.kv.k_dim, layer.kv.v_dim));
    std::visit([&](const auto& mlp) { widen_by_mlp(mlp, widths); }, layer.mlp);
  }
  widths.widest_input = std::max({static_cast<int64_t>(spec.shape.n_embd), widths.attended, widths.n_ff});
  return widths;
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
  buffers.gate = AlignedBuffer<float>(slots * widths.n_ff);
  buffers.up = AlignedBuffer<float>(slots * widths.n_ff);
  buffers.expert_out = AlignedBuffer<float>(widths.n_experts > 0 ? slots * spec.shape.n_embd : 0);
  buffers.router = AlignedBuffer<float>(rows * widths.n_experts);
  buffers.blocks = AlignedBuffer<ActBlock>(Activations::n_blocks(slots, widths.widest_input));
  buffers.product_scratch_stride = product_scratch_floats(slots);
  buffers.attention_scratch_stride = widths.attention_scratch;
  return buffers;
}

class Decoder : public Model {
 public:
  Decoder(DecoderSpec spec, const KernelTable& kernels, int32_t max_rows)
      : spec_(std::move(spec)),
        kernels_(kernels),
        max_rows_(max_rows),
        hidden_(static_cast<int64_t>(max_rows) * spec_.shape.n_embd),
        branch_(static_cast<int64_t>(max_rows) * spec_.shape.n_embd),
        buffers_(allocate_buffers(spec_, max_rows)),
        angles_(spec_.rope, max_rows),
        kinds_(attention_kinds(spec_.shape.kv_layers)) {}

  const ModelShape& shape() const override { return spec_.shape; }
  int32_t max_batch_rows() const override { return max_rows_; }
  uint64_t scratch_bytes() const override {
    return hidden_.size_bytes() + branch_.size_bytes() + buffers_.size_bytes() + angles_.size_bytes();
  }

  void forward(const Batch& batch, std::span<const KvLayerView> kv, ThreadPool& pool, float* logits) override {
    const auto n_rows = static_cast<int64_t>(batch.tokens.size());
    CHECK(n_rows <= max_rows_, "a batch fits the scratch that was sized for it");
    CHECK(kv.size() == spec_.layers.size(), "each layer has its store");
    fit_threads(pool.n_threads());
    const Compute compute{kernels_, pool, buffers_.product_scratch.data(), buffers_.product_scratch_stride};
    begin_rows(compute, batch);
    const Pass pass{compute, batch, angles_, buffers_, n_rows, spec_.shape.n_embd};
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      run_layer(pass, spec_.layers[i], {spec_.layers[i].kv, kv[i], kinds_.of_layer[i]});
    }
    write_logits(compute, batch, logits);
  }

 private:
  /// Scratch that each thread has of its own; grows with the first pass on a larger pool.
  void fit_threads(int n_threads) {
    if (n_threads <= n_threads_) return;
    n_threads_ = n_threads;
    buffers_.product_scratch = AlignedBuffer<float>(n_threads * buffers_.product_scratch_stride);
    buffers_.attention_scratch = AlignedBuffer<float>(n_threads * buffers_.attention_scratch_stride);
  }

  /// Embeds the tokens and computes the rows' rotations.
  void begin_rows(const Compute& compute, const Batch& batch) {
    const Embedding& embedding = spec_.embedding;
    compute.pool.run(static_cast<int64_t>(batch.tokens.size()), [&](int64_t row, int) {
      const std::byte* source = embedding.rows + batch.tokens[static_cast<size_t>(row)] * embedding.row_bytes;
      embedding.format->decode(source, hidden_.data() + row * embedding.n_embd, embedding.n_embd);
    });
    int64_t first_row = 0;
    for (const BatchSegment& segment : batch.segments) {
      compute.pool.run(segment.n_rows,
                       [&](int64_t i, int) { angles_.set_row(first_row + i, segment.first_position + i); });
      first_row += segment.n_rows;
    }
  }

  void run_layer(const Pass& pass, const DecoderLayer& layer, const LayerKv& kv) {
    float* normed = buffers_.normed.data();
    apply_norm(pass.compute, layer.attention_norm, hidden_.data(), pass.n_rows, pass.n_embd, normed);
    run_attention(pass, layer.attention, kv, normed, branch_.data());
    add_rows(pass.compute, branch_.data(), pass.n_rows, pass.n_embd, hidden_.data());
    apply_norm(pass.compute, layer.mlp_norm, hidden_.data(), pass.n_rows, pass.n_embd, normed);
    if (const auto* dense = std::get_if<DenseMlp>(&layer.mlp)) {
      run_dense_mlp(pass, *dense, normed, branch_.data());
    } else {
      run_moe_mlp(pass, std::get<MoeMlp>(layer.mlp), normed, branch_.data());
    }
    add_rows(pass.compute, branch_.data(), pass.n_rows, pass.n_embd, hidden_.data());
  }

  /// Only rows that want logits go through the last norm and the vocabulary.
  void write_logits(const Compute& compute, const Batch& batch, float* logits) {
    const int64_t n_embd = spec_.shape.n_embd;
    const auto n_wanted = static_cast<int64_t>(batch.logit_rows.size());
    for (int64_t i = 0; i < n_wanted; ++i) {
      std::copy_n(hidden_.data() + batch.logit_rows[static_cast<size_t>(i)] * n_embd, n_embd,
                  branch_.data() + i * n_embd);
    }
    apply_norm(compute, spec_.output_norm, branch_.data(), n_wanted, n_embd, buffers_.normed.data());
    Activations input(buffers_.normed.data(), n_wanted, n_embd, n_embd, buffers_.blocks.data());
    const LinearJob job{&spec_.output, &input, logits, spec_.shape.n_vocab};
    run_linear(compute, {&job, 1});
  }

  DecoderSpec spec_;
  const KernelTable& kernels_;
  int32_t max_rows_;
  int n_threads_ = 0;
  AlignedBuffer<float> hidden_;  ///< [rows][n_embd]: the residual stream
  AlignedBuffer<float> branch_;  ///< [rows][n_embd]: what a block adds to it
  Buffers buffers_;
  RopeAngles angles_;
  AttentionKinds kinds_;
};

}  // namespace

std::unique_ptr<Model> make_decoder(DecoderSpec spec, const KernelTable& kernels, int32_t max_batch_rows) {
  return std::make_unique<Decoder>(std::move(spec), kernels, max_batch_rows);
}

}  // namespace ferrox
