// How does one get a model of any shape and format to measure with? make_model SHAPE FORMAT OUT.gguf, random weights.
//
// FORMAT is a weight format's name, or Q4_K_M / Q5_K_M: k-quants with Q6_K where llama.cpp's mixtures put it.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/model_shape.h"
#include "bench/random_blocks.h"
#include "gguf/writer.h"

namespace ferrox::bench {
namespace {

/// Blocks that are made once and repeated: gigabytes then cost only the writing.
constexpr size_t kPatternBytes = size_t{16} << 20;

/// Which format each tensor gets.
struct Mixture {
  const FormatInfo* base;
  const FormatInfo* output;  ///< embedding and output
  const FormatInfo* upper;   ///< attn_v and ffn_down of some layers
};

Result<Mixture> find_mixture(const std::string& name) {
  const bool is_mixture = strcasecmp(name.c_str(), "Q4_K_M") == 0 || strcasecmp(name.c_str(), "Q5_K_M") == 0;
  const FormatInfo* base = find_format(is_mixture ? name.substr(0, 4) : name);
  if (base == nullptr) {
    return make_error(ErrorCode::kInvalidArgument, "format: expected a weight format, Q4_K_M or Q5_K_M, found '{}'",
                      name);
  }
  const FormatInfo* q6 = find_format("Q6_K");
  if (is_mixture) return Mixture{base, q6, q6};
  return Mixture{base, base, base};
}

/// The layers whose attn_v and ffn_down get the finer format: first and last eighth, and every third between.
bool is_upper_layer(int64_t layer, int64_t n_layers) {
  return layer < n_layers / 8 || layer >= 7 * n_layers / 8 || (layer - n_layers / 8) % 3 == 2;
}

class ModelMaker {
 public:
  ModelMaker(const ModelShapeSpec& shape, const Mixture& mixture) : shape_(shape), mixture_(mixture) {}

  Result<void> write(const std::string& path) {
    add_metadata();
    add_vocabulary();
    TRY(add_tensors());
    return writer_.write(path);
  }

 private:
  void add_metadata() {
    const std::string prefix = std::string(shape_.architecture) + ".";
    const auto set = [&](const char* key, int64_t value) {
      writer_.set_uint32(prefix + key, static_cast<uint32_t>(value));
    };
    writer_.set_string("general.architecture", shape_.architecture);
    writer_.set_string("general.name", fmt::format("random {}", shape_.name));
    set("block_count", shape_.n_layers);
    set("context_length", shape_.context_length);
    set("embedding_length", shape_.n_embd);
    set("feed_forward_length", shape_.n_ff);
    set("attention.head_count", shape_.n_heads);
    set("attention.head_count_kv", shape_.n_kv_heads);
    set("attention.key_length", shape_.head_dim);
    set("attention.value_length", shape_.head_dim);
    set("rope.dimension_count", shape_.head_dim);
    set("vocab_size", shape_.n_vocab);
    if (shape_.n_experts > 0) {
      set("expert_count", shape_.n_experts);
      set("expert_used_count", shape_.n_experts_used);
    }
    if (is_family("gemma3")) set("attention.sliding_window", 512);
    writer_.set_float32(prefix + "attention.layer_norm_rms_epsilon", 1e-5f);
    writer_.set_float32(prefix + "rope.freq_base", shape_.rope_base);
  }

  /// 256 byte tokens, fillers, and one end token: enough for any text to be encoded.
  void add_vocabulary() {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.push_back(byte_token(byte));
    while (static_cast<int64_t>(tokens.size()) < shape_.n_vocab - 1)
      tokens.push_back(fmt::format("filler{}", tokens.size()));
    tokens.emplace_back("<|end|>");
    std::vector<int32_t> types(tokens.size(), 1);
    types.back() = 3;
    writer_.set_string("tokenizer.ggml.model", "gpt2");
    writer_.set_string("tokenizer.ggml.pre", "llama-bpe");
    writer_.set_strings("tokenizer.ggml.tokens", std::move(tokens));
    writer_.set_int32s("tokenizer.ggml.token_type", std::move(types));
    writer_.set_strings("tokenizer.ggml.merges", {byte_token('t') + " " + byte_token('h')});
    writer_.set_uint32("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(shape_.n_vocab - 1));
    writer_.set_uint32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(shape_.n_vocab - 1));
    writer_.set_bool("tokenizer.ggml.add_bos_token", false);
  }

  /// A byte as GPT-2's vocabularies spell it: printable Latin-1 as itself, the others from U+0100 on.
  static std::string byte_token(int byte) {
    const auto is_plain = [](int b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
    int code = byte;
    if (!is_plain(byte)) {
      code = 256;
      for (int b = 0; b < byte; ++b) code += is_plain(b) ? 0 : 1;
    }
    if (code < 128) return std::string(1, static_cast<char>(code));
    return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
  }

  Result<void> add_tensors() {
    TRY(add_matrix("token_embd.weight", *mixture_.output, shape_.n_embd, shape_.n_vocab));
    add_norm("output_norm.weight", shape_.n_embd);
    for (int64_t layer = 0; layer < shape_.n_layers; ++layer) TRY(add_layer(layer));
    return {};
  }

  Result<void> add_layer(int64_t layer) {
    const auto name = [&](const char* part) { return fmt::format("blk.{}.{}.weight", layer, part); };
    const FormatInfo& base = *mixture_.base;
    const FormatInfo& upper = is_upper_layer(layer, shape_.n_layers) ? *mixture_.upper : base;
    const int64_t q = shape_.n_heads * shape_.head_dim;
    const int64_t kv = shape_.n_kv_heads * shape_.head_dim;
    add_norm(name("attn_norm"), shape_.n_embd);
    add_norm(name("ffn_norm"), shape_.n_embd);
    TRY(add_matrix(name("attn_q"), base, shape_.n_embd, q));
    TRY(add_matrix(name("attn_k"), base, shape_.n_embd, kv));
    TRY(add_matrix(name("attn_v"), upper, shape_.n_embd, kv));
    TRY(add_matrix(name("attn_output"), base, q, shape_.n_embd));
    if (is_family("qwen2")) {
      add_zeros(fmt::format("blk.{}.attn_q.bias", layer), q);
      add_zeros(fmt::format("blk.{}.attn_k.bias", layer), kv);
      add_zeros(fmt::format("blk.{}.attn_v.bias", layer), kv);
    }
    if (is_family("qwen3") || is_family("gemma3")) {
      add_norm(name("attn_q_norm"), shape_.head_dim);
      add_norm(name("attn_k_norm"), shape_.head_dim);
    }
    if (is_family("gemma3")) {
      add_norm(name("post_attention_norm"), shape_.n_embd);
      add_norm(name("post_ffw_norm"), shape_.n_embd);
    }
    return shape_.n_experts > 0 ? add_experts(layer, base, upper) : add_mlp(layer, base, upper);
  }

  Result<void> add_mlp(int64_t layer, const FormatInfo& base, const FormatInfo& upper) {
    TRY(add_matrix(fmt::format("blk.{}.ffn_gate.weight", layer), base, shape_.n_embd, shape_.n_ff));
    TRY(add_matrix(fmt::format("blk.{}.ffn_up.weight", layer), base, shape_.n_embd, shape_.n_ff));
    return add_matrix(fmt::format("blk.{}.ffn_down.weight", layer), upper, shape_.n_ff, shape_.n_embd);
  }

  Result<void> add_experts(int64_t layer, const FormatInfo& base, const FormatInfo& upper) {
    const int64_t n = shape_.n_experts;
    TRY(add_matrix(fmt::format("blk.{}.ffn_gate_inp.weight", layer), *find_format(DType::kF32), shape_.n_embd, n));
    TRY(add_matrix(fmt::format("blk.{}.ffn_gate_exps.weight", layer), base, shape_.n_embd, shape_.n_ff, n));
    TRY(add_matrix(fmt::format("blk.{}.ffn_up_exps.weight", layer), base, shape_.n_embd, shape_.n_ff, n));
    return add_matrix(fmt::format("blk.{}.ffn_down_exps.weight", layer), upper, shape_.n_ff, shape_.n_embd, n);
  }

  bool is_family(std::string_view name) const { return name == shape_.architecture; }
  void add_norm(const std::string& name, int64_t n) { add_constant(name, n, 1.0f); }
  void add_zeros(const std::string& name, int64_t n) { add_constant(name, n, 0.0f); }
  void add_constant(const std::string& name, int64_t n, float value) {
    const std::vector<float> values(static_cast<size_t>(n), value);
    const auto bytes = std::as_bytes(std::span(values));
    writer_.add_tensor(name, DType::kF32, {static_cast<uint64_t>(n)},
                       std::vector<std::byte>(bytes.begin(), bytes.end()));
  }

  /// A matrix of n_out rows of n_in; a format whose blocks don't divide the rows falls back as llama.cpp's do.
  Result<void> add_matrix(const std::string& name, const FormatInfo& wanted, int64_t n_in, int64_t n_out,
                          int64_t n_experts = 1) {
    const FormatInfo& format = n_in % wanted.block_elements == 0 ? wanted : *find_format(DType::kQ8_0);
    const size_t pattern_bytes =
        kPatternBytes / static_cast<size_t>(format.block_bytes) * static_cast<size_t>(format.block_bytes);
    const float rms = 0.85f / std::sqrt(static_cast<float>(n_in));  // a product then has the spread of its input
    auto pattern = std::make_shared<std::vector<std::byte>>(pattern_bytes);
    TRY(fill_random_blocks(format, rms, ++seed_, *pattern));
    const uint64_t n_blocks = static_cast<uint64_t>(n_in / format.block_elements * n_out * n_experts);
    const uint64_t size_bytes = n_blocks * static_cast<uint64_t>(format.block_bytes);
    std::vector<uint64_t> dims = {static_cast<uint64_t>(n_in), static_cast<uint64_t>(n_out)};
    if (n_experts > 1) dims.push_back(static_cast<uint64_t>(n_experts));
    writer_.add_tensor(name, format.dtype, std::move(dims), [pattern, size_bytes](const GgufWriter::Sink& sink) {
      for (uint64_t done = 0; done < size_bytes; done += pattern->size()) {
        sink(std::span(*pattern).first(std::min<uint64_t>(pattern->size(), size_bytes - done)));
      }
    });
    return {};
  }

  const ModelShapeSpec& shape_;
  Mixture mixture_;
  GgufWriter writer_;
  uint64_t seed_ = 0;
};

int run(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: make_model SHAPE FORMAT OUT.gguf\nshapes:");
    for (const auto& shape : kModelShapes) fmt::print(stderr, " {}", shape.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  const auto* shape = std::find_if(std::begin(kModelShapes), std::end(kModelShapes),
                                   [&](const ModelShapeSpec& s) { return strcasecmp(s.name, argv[1]) == 0; });
  if (shape == std::end(kModelShapes)) {
    fmt::print(stderr, "make_model: unknown shape '{}'\n", argv[1]);
    return 2;
  }
  const auto mixture = find_mixture(argv[2]);
  const auto written = mixture ? ModelMaker(*shape, *mixture).write(argv[3]) : Result<void>(mixture.error());
  if (!written) fmt::print(stderr, "make_model: {}\n", written.error().message);
  return written ? 0 : 1;
}

}  // namespace
}  // namespace ferrox::bench

int main(int argc, char** argv) { return ferrox::bench::run(argc, argv); }
