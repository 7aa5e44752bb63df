// Which model can a test foresee? One whose logits are a hash of its sequence, read back through the KV pages.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "nn/model.h"
#include "tensor/attention_kinds.h"

namespace ferrox::testing {

/// Its first layer attends to everything, the second to `window` positions (0: all). It writes each token into K and V
/// of every layer and head (F32 only), and computes the logits
/// of a row from what the pages of its positions hold: a wrong table, a lost row or another request's page gives other
/// logits, or a failure.
class FakeModel : public Model {
 public:
  static constexpr int32_t kVocab = 64;
  static constexpr int32_t kPoison = 63;  ///< a sequence that holds it has NaN logits

  enum class State { kNone, kRecurrent };
  explicit FakeModel(int32_t max_batch_rows = 64, int64_t context_length = 256, int window = 0,
                     State state = State::kNone)
      : max_batch_rows_(max_batch_rows) {
    shape_.architecture = "fake";
    shape_.n_vocab = kVocab;
    shape_.n_embd = 4;
    shape_.n_layers = 2;
    shape_.context_length = context_length;
    shape_.kv_layers = {{.n_kv_heads = 2, .k_dim = 3, .v_dim = 2},
                        {.n_kv_heads = 1, .k_dim = 2, .v_dim = 4, .window = window}};
    kinds_ = attention_kinds(shape_.kv_layers);
    if (state == State::kRecurrent) shape_.state_floats = 2;
  }

  /// Called before every pass, on the engine thread.
  std::function<void(const Batch&)> on_forward;

  const ModelShape& shape() const override { return shape_; }
  int32_t max_batch_rows() const override { return max_batch_rows_; }
  uint64_t scratch_bytes(int) const override { return 0; }

  bool forward(const Batch& batch, std::span<const KvLayerView> kv, ThreadPool&, float* logits) override {
    if (on_forward) on_forward(batch);
    if (batch.is_given_up && batch.is_given_up()) {
      leave_undefined(batch);
      return false;
    }
    size_t row = 0;
    size_t n_logit_rows = 0;
    for (const BatchSegment& segment : batch.segments) {
      const bool is_continuous = scan_state(kv, segment, batch.tokens.subspan(row));
      for (int32_t i = 0; i < segment.n_rows; ++i)
        write_row(kv, segment, segment.first_position + i, batch.tokens[row + static_cast<size_t>(i)]);
      for (int32_t i = 0; i < segment.n_rows; ++i, ++row) {
        const bool wanted =
            n_logit_rows < batch.logit_rows.size() && batch.logit_rows[n_logit_rows] == static_cast<int32_t>(row);
        if (!wanted) continue;
        std::vector<int32_t> sequence = read_sequence(kv, segment, segment.first_position + i + 1);
        if (!is_continuous) sequence.push_back(kPoison);
        fill_logits(sequence, logits + n_logit_rows * kVocab);
        ++n_logit_rows;
      }
    }
    return true;
  }

  /// The logits that follow `tokens`, without any KV: the judge.
  static void fill_logits(const std::vector<int32_t>& tokens, float* out) {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    bool poisoned = false;
    for (const int32_t token : tokens) {
      hash = mix(hash ^ static_cast<uint64_t>(token + 1));
      poisoned = poisoned || token == kPoison || token < 0;
    }
    for (int32_t id = 0; id < kVocab; ++id) {
      out[id] = static_cast<float>(mix(hash + static_cast<uint64_t>(id)) >> 40) * 0x1p-24f * 8.0f - 4.0f;
      if (poisoned) out[id] = std::numeric_limits<float>::quiet_NaN();
    }
  }

 private:
  /// What a pass that was given up leaves behind: states that no sequence has.
  void leave_undefined(const Batch& batch) const {
    for (const BatchSegment& segment : batch.segments) {
      for (int64_t i = 0; i < shape_.state_floats; ++i) segment.state[i] = -1;
    }
  }

  /// A state is the number of tokens and a hash of them; false when it isn't that of the rows before the segment.
  bool scan_state(std::span<const KvLayerView> kv, const BatchSegment& segment, std::span<const int32_t> tokens) const {
    if (shape_.state_floats == 0) return true;
    const auto n_before = static_cast<float>(segment.first_position);
    float expected = 0;
    for (int64_t position = 0; position < segment.first_position; ++position) {
      expected = scan(expected, token_at(kv.front(), segment, position));
    }
    const bool is_continuous = segment.state[0] == n_before && segment.state[1] == expected;
    for (int32_t i = 0; i < segment.n_rows; ++i) {
      segment.state[0] += 1;
      segment.state[1] = scan(segment.state[1], tokens[static_cast<size_t>(i)]);
    }
    return is_continuous;
  }

  /// As the first layer has it, which attends to everything.
  int32_t token_at(const KvLayerView& layer, const BatchSegment& segment, int64_t position) const {
    const PageTable table = segment.pages[static_cast<size_t>(kinds_.of_layer.front())];
    const int32_t page = table[static_cast<size_t>(position / layer.page_rows)];
    float value = 0;
    std::memcpy(&value, layer.k_row(page, 0, static_cast<int>(position % layer.page_rows)), sizeof value);
    return static_cast<int32_t>(value);
  }

  static float scan(float hash, int32_t token) {
    return static_cast<float>(mix(static_cast<uint64_t>(hash) * 64 + static_cast<uint64_t>(token)) & 0xfffff);
  }

  static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

  template <class Visit>
  void each_cell(std::span<const KvLayerView> kv, const BatchSegment& segment, int64_t position, int64_t reader,
                 const Visit& visit) const {
    for (size_t i = 0; i < kv.size(); ++i) {
      const KvLayerView& layer = kv[i];
      const int window = shape_.kv_layers[i].window;
      if (window > 0 && reader - position >= window) continue;
      const PageTable table = segment.pages[static_cast<size_t>(kinds_.of_layer[i])];
      const int32_t page = table[static_cast<size_t>(position / layer.page_rows)];
      const int row = static_cast<int>(position % layer.page_rows);
      for (int head = 0; head < layer.n_kv_heads; ++head) {
        for (int element = 0; element < layer.k_dim; ++element)
          visit(layer.k_row(page, head, row) + sizeof(float) * static_cast<size_t>(element));
        for (int element = 0; element < layer.v_dim; ++element)
          visit(layer.v_row(page, head, row) + sizeof(float) * static_cast<size_t>(element));
      }
    }
  }

  void write_row(std::span<const KvLayerView> kv, const BatchSegment& segment, int64_t position, int32_t token) const {
    const auto value = static_cast<float>(token);
    each_cell(kv, segment, position, position, [&](std::byte* cell) { std::memcpy(cell, &value, sizeof value); });
  }

  /// The tokens of positions [0, n); -1 where the cells of one position disagree.
  std::vector<int32_t> read_sequence(std::span<const KvLayerView> kv, const BatchSegment& segment, int64_t n) const {
    std::vector<int32_t> tokens;
    for (int64_t position = 0; position < n; ++position) {
      float first = std::numeric_limits<float>::quiet_NaN();
      bool agree = true;
      each_cell(kv, segment, position, n - 1, [&](const std::byte* cell) {
        float value = 0;
        std::memcpy(&value, cell, sizeof value);
        if (std::isnan(first)) first = value;
        agree = agree && value == first;
      });
      tokens.push_back(agree ? static_cast<int32_t>(first) : -1);
    }
    return tokens;
  }

  ModelShape shape_;
  AttentionKinds kinds_;
  int32_t max_batch_rows_;
};

}  // namespace ferrox::testing
