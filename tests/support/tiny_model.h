// Which model file can a test write in a moment? A small random one of any family and weight format, open to damage.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "gguf/writer.h"
#include "support/random_weights.h"
#include "tensor/format.h"

namespace ferrox::testing {

/// A model file before it is written: a test may change any of it.
struct TinyFile {
  using Value = std::variant<uint32_t, float, bool, std::string, std::vector<std::string>, std::vector<int32_t>,
                             std::vector<float>>;
  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<uint64_t> dims;
    std::vector<std::byte> bytes;
  };

  std::map<std::string, Value> keys;
  std::vector<Tensor> tensors;

  Tensor& tensor(const std::string& name) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
    if (found == tensors.end()) ADD_FAILURE() << "no tensor " << name;
    return *found;
  }
  void remove(const std::string& name) {
    std::erase_if(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
  }
  void add_floats(std::string name, std::vector<uint64_t> dims, const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensors.push_back({std::move(name), DType::kF32, std::move(dims), std::move(bytes)});
  }

  /// Fails the test when the file can't be written.
  void write(const std::filesystem::path& path) const {
    GgufWriter writer;
    for (const auto& [key, value] : keys) set(writer, key, value);
    for (const Tensor& tensor : tensors) writer.add_tensor(tensor.name, tensor.dtype, tensor.dims, tensor.bytes);
    const auto written = writer.write(path);
    ASSERT_TRUE(written) << written.error().message;
  }

 private:
  static void set(GgufWriter& writer, const std::string& key, const Value& value) {
    if (const auto* number = std::get_if<uint32_t>(&value)) writer.set_uint32(key, *number);
    if (const auto* number = std::get_if<float>(&value)) writer.set_float32(key, *number);
    if (const auto* flag = std::get_if<bool>(&value)) writer.set_bool(key, *flag);
    if (const auto* text = std::get_if<std::string>(&value)) writer.set_string(key, *text);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) writer.set_strings(key, *texts);
    if (const auto* numbers = std::get_if<std::vector<int32_t>>(&value)) writer.set_int32s(key, *numbers);
    if (const auto* numbers = std::get_if<std::vector<float>>(&value)) writer.set_float32s(key, *numbers);
  }
};

/// What the model is like. Widths must be multiples of the weight format's block (256 for all of them).
struct TinyModel {
  /// llama, qwen2 (biases), qwen3 (norms of q and k), gemma2 (post norms); of those with a recurrent state: mamba2,
  /// falcon-h1, and lfm2 and qwen3next, whose every second layer attends.
  std::string architecture = "llama";
  DType weights = DType::kF32;
  DType embedding = DType::kF32;
  int n_layers = 2;
  int n_embd = 64;
  int n_heads = 4;
  int n_kv_heads = 2;
  int head_dim = 16;  ///< written as key and value length: it need not be n_embd / n_heads
  int n_ff = 96;
  int n_vocab = 80;
  int n_experts = 0;
  int n_experts_used = 2;
  int window = 0;  ///< of layers that slide, where the family has such; 0: not named
  uint32_t context_length = 4096;
  bool has_output = true;  ///< otherwise the embedding serves as output
  uint32_t seed = 1;
};

/// Fills a TinyFile, one tensor after the other, each with a seed of its own.
class TinyModelBuilder {
 public:
  explicit TinyModelBuilder(const TinyModel& model) : model_(model), seed_(model.seed * 1000) {}

  TinyFile build() {
    add_keys();
    add_matrix("token_embd", model_.embedding, {model_.n_embd, model_.n_vocab}, 2.0f);
    for (int layer = 0; layer < model_.n_layers; ++layer) add_layer(layer);
    add_norm(is("lfm2") ? "token_embd_norm" : "output_norm", model_.n_embd);
    if (model_.has_output) add_weight("output", model_.n_embd, model_.n_vocab);
    return std::move(file_);
  }

 private:
  static constexpr int kStates = 12;  ///< of each channel of a selective scan

  void add_keys() {
    const std::string prefix = model_.architecture + ".";
    const auto set = [&](const char* key, int value) { file_.keys[prefix + key] = static_cast<uint32_t>(value); };
    file_.keys["general.architecture"] = model_.architecture;
    file_.keys["general.name"] = std::string("tiny ") + model_.architecture;
    file_.keys["tokenizer.ggml.model"] = std::string("no_vocab");
    file_.keys[prefix + "context_length"] = model_.context_length;
    set("block_count", model_.n_layers);
    set("embedding_length", model_.n_embd);
    set("feed_forward_length", model_.n_ff);
    set("attention.head_count", model_.n_heads);
    set("attention.head_count_kv", model_.n_kv_heads);
    set("attention.key_length", model_.head_dim);
    set("attention.value_length", model_.head_dim);
    set("rope.dimension_count", model_.head_dim);
    file_.keys[prefix + "attention.layer_norm_rms_epsilon"] = 1e-5f;
    file_.keys[prefix + "rope.freq_base"] = 10000.0f;
    if (model_.window > 0) set("attention.sliding_window", model_.window);
    add_recurrence_keys(prefix);
    if (model_.n_experts == 0) return;
    set("expert_count", model_.n_experts);
    set("expert_used_count", model_.n_experts_used);
  }

  void add_recurrence_keys(const std::string& prefix) {
    const auto set = [&](const char* key, int value) { file_.keys[prefix + key] = static_cast<uint32_t>(value); };
    if (is("lfm2")) {
      std::vector<int32_t> kv_heads;
      for (int i = 0; i < model_.n_layers; ++i) kv_heads.push_back(attends(i) ? model_.n_kv_heads : 0);
      file_.keys[prefix + "attention.head_count_kv"] = kv_heads;
      set("shortconv.l_cache", 3);
    }
    if (is("qwen3next")) set("full_attention_interval", 2);
    if (!is("qwen3next") && !is("mamba2") && !is("falcon-h1")) return;
    set("ssm.conv_kernel", 4);
    set("ssm.inner_size", model_.n_embd);
    set("ssm.state_size", is("qwen3next") ? model_.n_embd / model_.n_heads : kStates);
    set("ssm.time_step_rank", model_.n_heads);
    set("ssm.group_count", model_.n_kv_heads);
  }

  bool is(const char* architecture) const { return model_.architecture == architecture; }

  /// Layer `index` of lfm2 or qwen3next attends, or any layer of the others but mamba2.
  bool attends(int index) const { return !is("mamba2") && (!(is("lfm2") || is("qwen3next")) || index % 2 == 1); }

  void add_layer(int index) {
    const std::string block = "blk." + std::to_string(index) + ".";
    add_norm(block + "attn_norm", model_.n_embd);
    if (attends(index)) add_attention(block);
    if (is("mamba2") || is("falcon-h1")) add_scan(block);
    if (is("lfm2") && !attends(index)) add_convolution(block);
    if (is("qwen3next") && !attends(index)) add_delta_rule(block);
    if (is("gemma2") || is("qwen3next")) add_norm(block + "post_attention_norm", model_.n_embd);
    if (is("gemma2")) add_norm(block + "post_ffw_norm", model_.n_embd);
    if (!is("mamba2")) add_mlp(block);
  }

  void add_attention(const std::string& block) {
    const int q_width = model_.n_heads * model_.head_dim;
    const int kv_width = model_.n_kv_heads * model_.head_dim;
    add_weight(block + "attn_q", model_.n_embd, is("qwen3next") ? 2 * q_width : q_width);
    add_weight(block + "attn_k", model_.n_embd, kv_width);
    add_weight(block + "attn_v", model_.n_embd, kv_width);
    add_weight(block + "attn_output", q_width, model_.n_embd);
    if (is("qwen2")) {
      add_bias(block + "attn_q", q_width);
      add_bias(block + "attn_k", kv_width);
      add_bias(block + "attn_v", kv_width);
    }
    if (is("qwen3") || is("lfm2") || is("qwen3next")) {
      add_norm(block + "attn_q_norm", model_.head_dim);
      add_norm(block + "attn_k_norm", model_.head_dim);
    }
  }

  void add_mlp(const std::string& block) {
    if (is("falcon-h1")) {
      file_.add_floats(block + "ffn_norm", {static_cast<uint64_t>(model_.n_embd)}, norm_weight(model_.n_embd));
    } else if (!is("qwen3next")) {
      add_norm(block + "ffn_norm", model_.n_embd);
    }
    if (model_.n_experts == 0) {
      add_weight(block + "ffn_gate", model_.n_embd, model_.n_ff);
      add_weight(block + "ffn_up", model_.n_embd, model_.n_ff);
      add_weight(block + "ffn_down", model_.n_ff, model_.n_embd);
      return;
    }
    add_matrix(block + "ffn_gate_inp", DType::kF32, {model_.n_embd, model_.n_experts}, 2.0f);
    add_matrix(block + "ffn_gate_exps", model_.weights, {model_.n_embd, model_.n_ff, model_.n_experts}, 2.0f);
    add_matrix(block + "ffn_up_exps", model_.weights, {model_.n_embd, model_.n_ff, model_.n_experts}, 2.0f);
    add_matrix(block + "ffn_down_exps", model_.weights, {model_.n_ff, model_.n_embd, model_.n_experts}, 2.0f);
  }

  /// A selective scan with n_heads heads in n_kv_heads groups, as wide as the embedding.
  void add_scan(const std::string& block) {
    const int n_channels = model_.n_embd + 2 * model_.n_kv_heads * kStates;
    add_weight(block + "ssm_in", model_.n_embd, model_.n_embd + n_channels + model_.n_heads);
    add_taps(block + "ssm_conv1d", 4, n_channels);
    add_bias(block + "ssm_conv1d", n_channels);
    add_rates(block, {1, static_cast<uint64_t>(model_.n_heads)});
    file_.add_floats(block + "ssm_d", {1, static_cast<uint64_t>(model_.n_heads)}, norm_weight(model_.n_heads));
    file_.add_floats(
        block + "ssm_norm.weight",
        {static_cast<uint64_t>(model_.n_embd / model_.n_kv_heads), static_cast<uint64_t>(model_.n_kv_heads)},
        norm_weight(model_.n_embd));
    add_weight(block + "ssm_out", model_.n_embd, model_.n_embd);
  }

  void add_convolution(const std::string& block) {
    add_weight(block + "shortconv.in_proj", model_.n_embd, 3 * model_.n_embd);
    add_taps(block + "shortconv.conv", 3, model_.n_embd);
    add_weight(block + "shortconv.out_proj", model_.n_embd, model_.n_embd);
  }

  /// The gated delta rule with n_kv_heads heads of k and n_heads of v, those as wide as the embedding.
  void add_delta_rule(const std::string& block) {
    const int dim = model_.n_embd / model_.n_heads;
    const int n_channels = 2 * model_.n_kv_heads * dim + model_.n_embd;
    add_weight(block + "attn_qkv", model_.n_embd, n_channels);
    add_weight(block + "attn_gate", model_.n_embd, model_.n_embd);
    add_weight(block + "ssm_ba", model_.n_embd, 2 * model_.n_heads);
    add_taps(block + "ssm_conv1d", 4, n_channels);
    add_rates(block, {static_cast<uint64_t>(model_.n_heads)});
    add_norm(block + "ssm_norm", dim);
    add_weight(block + "ssm_out", model_.n_embd, model_.n_embd);
  }

  void add_taps(const std::string& name, int n_taps, int n_channels) {
    add_matrix(name, DType::kF32, {n_taps, n_channels}, 2.0f);
  }

  /// The biases of steps, and what they decay a state by: numbers below 0.
  void add_rates(const std::string& block, const std::vector<uint64_t>& dims) {
    add_bias(block + "ssm_dt", model_.n_heads);
    std::vector<float> rates = random_floats(model_.n_heads, 0.5f, ++seed_);
    for (float& rate : rates) rate = -std::exp(rate);
    file_.add_floats(block + "ssm_a", dims, rates);
  }

  void add_weight(const std::string& name, int n_in, int n_out) {
    add_matrix(name, model_.weights, {n_in, n_out}, 2.0f);
  }

  /// Largest weights of a block are at most gain / sqrt(n_in), so that widths don't change sizes.
  void add_matrix(const std::string& name, DType dtype, const std::vector<int>& dims, float gain) {
    const FormatInfo& format = *find_format(dtype);
    int64_t n_elements = 1;
    for (const int dim : dims) n_elements *= dim;
    EXPECT_EQ(dims[0] % format.block_elements, 0) << name << ": rows of whole blocks";
    const float top = gain / std::sqrt(static_cast<float>(dims[0]));
    file_.tensors.push_back({name + ".weight",
                             dtype,
                             {dims.begin(), dims.end()},
                             random_blocks(format, n_elements / format.block_elements, top, ++seed_)});
  }

  void add_norm(const std::string& name, int n) {
    file_.add_floats(name + ".weight", {static_cast<uint64_t>(n)}, norm_weight(n));
  }
  std::vector<float> norm_weight(int n) {
    std::vector<float> weight = random_floats(n, 0.1f, ++seed_);
    for (float& value : weight) value += 1.0f;
    return weight;
  }
  void add_bias(const std::string& name, int n) {
    file_.add_floats(name + ".bias", {static_cast<uint64_t>(n)}, random_floats(n, 0.2f, ++seed_));
  }

  TinyModel model_;
  uint32_t seed_;
  TinyFile file_;
};

inline TinyFile tiny_model(const TinyModel& model) { return TinyModelBuilder(model).build(); }

}  // namespace ferrox::testing
