#include "nn/decoder.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/pass.h"
#include "nn/recurrence.h"
#include "tensor/attention_kinds.h"

namespace ferrox {
namespace {

/// Where a layer's memory of the rows before lies.
struct LayerMemory {
  size_t kv_layer;  ///< which of ModelShape::kv_layers, where the layer attends
  int64_t state;    ///< offset in a sequence's state
};

std::vector<LayerMemory> lay_out(const std::vector<DecoderLayer>& layers) {
  std::vector<LayerMemory> memory;
  LayerMemory next{0, 0};
  for (const DecoderLayer& layer : layers) {
    memory.push_back(next);
    next.kv_layer += layer.attention ? 1 : 0;
    next.state += state_floats(layer.recurrence);
  }
  return memory;
}

bool has_mlp(const DecoderLayer& layer) {
  const auto* dense = std::get_if<DenseMlp>(&layer.mlp);
  return dense == nullptr || *dense;
}

bool has_states(const Batch& batch) {
  return std::none_of(batch.segments.begin(), batch.segments.end(),
                      [](const BatchSegment& segment) { return segment.state == nullptr; });
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
        memory_(lay_out(spec_.layers)),
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

  bool forward(const Batch& batch, std::span<const KvLayerView> kv, ThreadPool& pool, float* logits) override {
    const auto n_rows = static_cast<int64_t>(batch.tokens.size());
    CHECK(n_rows <= max_rows_, "a batch fits the scratch that was sized for it");
    CHECK(kv.size() == spec_.shape.kv_layers.size(), "each layer that attends has its store");
    CHECK(spec_.shape.state_floats == 0 || has_states(batch), "each sequence brings its recurrent state");
    fit_threads(pool.n_threads());
    const ProfileScope scope(pool.profile(), "forward");
    const Compute compute{kernels_, pool, buffers_.product_scratch.data(), buffers_.product_scratch_stride};
    begin_rows(compute, batch);
    const Pass pass{compute, batch, angles_, buffers_, n_rows, spec_.shape.n_embd};
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      if (!run_layer(pass, spec_.layers[i], memory_[i], kv)) return false;
    }
    write_logits(compute, batch, logits);
    return true;
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

  /// False: the pass is given up.
  bool run_layer(const Pass& pass, const DecoderLayer& layer, const LayerMemory& memory,
                 std::span<const KvLayerView> kv) {
    if (is_given_up(pass)) return false;
    const float* mlp_input = nullptr;
    if (layer.attention || is_present(layer.recurrence)) {
      const float* x = normed(pass, layer.attention_norm);
      if (layer.attention) attend(pass, layer, memory, kv, x);
      recur(pass, layer, memory, x);
      if (layer.mlp_input == MlpInput::kLayerInput) mlp_input = normed(pass, layer.mlp_norm);
      add_branch(pass, layer.attention_post_norm);
    }
    if (!has_mlp(layer)) return true;
    if (is_given_up(pass)) return false;
    const ProfileScope scope(pass.compute.pool.profile(), "mlp");
    if (mlp_input == nullptr) mlp_input = normed(pass, layer.mlp_norm);
    std::visit([&](const auto& mlp) { run_mlp(pass, mlp, mlp_input, branch_.data()); }, layer.mlp);
    add_branch(pass, layer.mlp_post_norm);
    return true;
  }

  /// branch = attention(x).
  void attend(const Pass& pass, const DecoderLayer& layer, const LayerMemory& memory, std::span<const KvLayerView> kv,
              const float* x) {
    const ProfileScope scope(pass.compute.pool.profile(), "attention");
    const size_t index = memory.kv_layer;
    run_attention(pass, layer.attention, {layer.kv, kv[index], kinds_.of_layer[index]}, x, branch_.data());
  }

  /// branch = recurrence(x), added to attention's where the layer has both.
  void recur(const Pass& pass, const DecoderLayer& layer, const LayerMemory& memory, const float* x) {
    if (!is_present(layer.recurrence)) return;
    const ProfileScope scope(pass.compute.pool.profile(), "recurrence");
    float* out = layer.attention ? buffers_.beside_attention.data() : branch_.data();
    std::visit(
        [&](const auto& recurrence) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(recurrence)>, std::monostate>) {
            run_recurrence(pass, recurrence, memory.state, x, out);
          }
        },
        layer.recurrence);
    if (layer.attention) add_rows(pass.compute, out, 1.0f, pass.n_rows, pass.n_embd, branch_.data());
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
  std::vector<RopeAngles> angles_;   ///< of each of spec_.ropes
  std::vector<LayerMemory> memory_;  ///< of each layer
  AttentionKinds kinds_;
};

}  // namespace

std::unique_ptr<Model> make_decoder(DecoderSpec spec, const KernelTable& kernels, int32_t max_batch_rows) {
  for (const DecoderLayer& layer : spec.layers) {
    if (layer.attention) spec.shape.kv_layers.push_back(layer.kv);
    spec.shape.state_floats += state_floats(layer.recurrence);
  }
  return std::make_unique<Decoder>(std::move(spec), kernels, max_batch_rows);
}

}  // namespace ferrox
