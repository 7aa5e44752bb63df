#include "nn/decoder.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/pass.h"
#include "tensor/attention_kinds.h"

namespace ferrox {
namespace {

class Decoder : public Model {
 public:
  Decoder(DecoderSpec spec, const KernelTable& kernels, int32_t max_rows)
      : spec_(std::move(spec)),
        kernels_(kernels),
        max_rows_(max_rows),
        hidden_(static_cast<int64_t>(max_rows) * spec_.shape.n_embd),
        branch_(static_cast<int64_t>(max_rows) * spec_.shape.n_embd),
        buffers_(allocate_buffers(spec_, max_rows)),
        kinds_(attention_kinds(spec_.shape.kv_layers)) {
    for (const Rope& rope : spec_.ropes) angles_.emplace_back(rope, max_rows);
  }

  const ModelShape& shape() const override { return spec_.shape; }
  int32_t max_batch_rows() const override { return max_rows_; }
  uint64_t scratch_bytes(int n_threads) const override {
    uint64_t angle_bytes = 0;
    for (const RopeAngles& angles : angles_) angle_bytes += angles.size_bytes();
    return hidden_.size_bytes() + branch_.size_bytes() + buffers_.size_bytes(n_threads) + angle_bytes;
  }

  void forward(const Batch& batch, std::span<const KvLayerView> kv, ThreadPool& pool, float* logits) override {
    const auto n_rows = static_cast<int64_t>(batch.tokens.size());
    CHECK(n_rows <= max_rows_, "a batch fits the scratch that was sized for it");
    CHECK(kv.size() == spec_.layers.size(), "each layer has its store");
    fit_threads(pool.n_threads());
    const ProfileScope scope(pool.profile(), "forward");
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
    buffers_.allocate_for_threads(n_threads);
  }

  /// Embeds the tokens and computes the rows' rotations.
  void begin_rows(const Compute& compute, const Batch& batch) {
    const ProfileScope scope(compute.pool.profile(), "embedding");
    int64_t first_row = 0;
    for (const BatchSegment& segment : batch.segments) {
      compute.pool.run(segment.n_rows, [&](int64_t i, int) {
        const int64_t row = first_row + i;
        const int64_t position = segment.first_position + i;
        embed(batch.tokens[static_cast<size_t>(row)], position, hidden_.data() + row * spec_.shape.n_embd);
        for (RopeAngles& angles : angles_) angles.set_row(row, position);
      });
      first_row += segment.n_rows;
    }
  }

  void embed(int32_t token, int64_t position, float* out) const {
    const Embedding& embedding = spec_.embedding;
    embedding.format->decode(embedding.rows + token * embedding.row_bytes, out, embedding.n_embd);
    if (spec_.embedding_scale != 1.0f) kernels_.scale(spec_.embedding_scale, embedding.n_embd, out);
    const Embedding& learned = spec_.positions;
    if (learned.format == nullptr) return;
    std::vector<float> offset(static_cast<size_t>(embedding.n_embd));
    const int64_t index = std::min(position, learned.n_vocab - 1);  // a longer context than was trained: the last one
    learned.format->decode(learned.rows + index * learned.row_bytes, offset.data(), embedding.n_embd);
    kernels_.add(offset.data(), embedding.n_embd, out);
  }

  /// norm(hidden), or hidden itself where the layer has no such norm.
  const float* normed(const Pass& pass, const Norm& norm) {
    if (!norm) return hidden_.data();
    apply_norm(pass.compute, norm, hidden_.data(), pass.n_rows, pass.n_embd, buffers_.normed.data());
    return buffers_.normed.data();
  }

  /// hidden += norm(branch).
  void add_branch(const Pass& pass, const Norm& norm) {
    if (norm) apply_norm(pass.compute, norm, branch_.data(), pass.n_rows, pass.n_embd, branch_.data());
    add_rows(pass.compute, branch_.data(), spec_.residual_scale, pass.n_rows, pass.n_embd, hidden_.data());
  }

  void run_layer(const Pass& pass, const DecoderLayer& layer, const LayerKv& kv) {
    const float* mlp_input = nullptr;
    {
      const ProfileScope scope(pass.compute.pool.profile(), "attention");
      run_attention(pass, layer.attention, kv, normed(pass, layer.attention_norm), branch_.data());
      if (layer.mlp_input == MlpInput::kLayerInput) mlp_input = normed(pass, layer.mlp_norm);
      add_branch(pass, layer.attention_post_norm);
    }
    const ProfileScope scope(pass.compute.pool.profile(), "mlp");
    if (layer.mlp_input == MlpInput::kAfterAttention) mlp_input = normed(pass, layer.mlp_norm);
    std::visit([&](const auto& mlp) { run_mlp(pass, mlp, mlp_input, branch_.data()); }, layer.mlp);
    add_branch(pass, layer.mlp_post_norm);
  }

  /// Only rows that want logits go through the last norm and the vocabulary.
  void write_logits(const Compute& compute, const Batch& batch, float* logits) {
    const ProfileScope scope(compute.pool.profile(), "logits");
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
    if (spec_.logit_softcap == 0.0f) return;
    compute.pool.run(n_wanted, [&](int64_t i, int) {
      kernels_.soft_cap(spec_.logit_softcap, spec_.shape.n_vocab, logits + i * spec_.shape.n_vocab);
    });
  }

  DecoderSpec spec_;
  const KernelTable& kernels_;
  int32_t max_rows_;
  int n_threads_ = 0;
  AlignedBuffer<float> hidden_;  ///< [rows][n_embd]: the residual stream
  AlignedBuffer<float> branch_;  ///< [rows][n_embd]: what a block adds to it
  Buffers buffers_;
  std::vector<RopeAngles> angles_;  ///< of each of spec_.ropes
  AttentionKinds kinds_;
};

}  // namespace

std::unique_ptr<Model> make_decoder(DecoderSpec spec, const KernelTable& kernels, int32_t max_batch_rows) {
  for (const DecoderLayer& layer : spec.layers) spec.shape.kv_layers.push_back(layer.kv);
  return std::make_unique<Decoder>(std::move(spec), kernels, max_batch_rows);
}

}  // namespace ferrox
