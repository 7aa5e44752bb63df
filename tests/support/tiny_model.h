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
  std::string architecture = "llama";  ///< llama, qwen2 (biases), qwen3 (norms of q and k) or gemma2 (post norms)
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
    for (int layer = 0; layer < model_.n_layers; ++layer) add_layer("blk." + std::to_string(layer) + ".");
    add_norm("output_norm", model_.n_embd);
    if (model_.has_output) add_weight("output", model_.n_embd, model_.n_vocab);
    return std::move(file_);
  }

 private:
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
    if (model_.n_experts == 0) return;
    set("expert_count", model_.n_experts);
    set("expert_used_count", model_.n_experts_used);
  }

  void add_layer(const std::string& block) {
    const int q_width = model_.n_heads * model_.head_dim;
    const int kv_width = model_.n_kv_heads * model_.head_dim;
    add_norm(block + "attn_norm", model_.n_embd);
    add_weight(block + "attn_q", model_.n_embd, q_width);
    add_weight(block + "attn_k", model_.n_embd, kv_width);
    add_weight(block + "attn_v", model_.n_embd, kv_width);
    add_weight(block + "attn_output", q_width, model_.n_embd);
    if (model_.architecture == "qwen2") {
      add_bias(block + "attn_q", q_width);
      add_bias(block + "attn_k", kv_width);
      add_bias(block + "attn_v", kv_width);
    }
    if (model_.architecture == "qwen3") {
      add_norm(block + "attn_q_norm", model_.head_dim);
      add_norm(block + "attn_k_norm", model_.head_dim);
    }
    if (model_.architecture == "gemma2") {
      add_norm(block + "post_attention_norm", model_.n_embd);
      add_norm(block + "post_ffw_norm", model_.n_embd);
    }
    add_norm(block + "ffn_norm", model_.n_embd);
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
    std::vector<float> weight = random_floats(n, 0.1f, ++seed_);
    for (float& value : weight) value += 1.0f;
    file_.add_floats(name + ".weight", {static_cast<uint64_t>(n)}, weight);
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
