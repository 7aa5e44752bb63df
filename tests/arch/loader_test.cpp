// Does a model file load only when it is whole and every word of it is understood?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/arch.h"
#include "support/model_runner.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"

namespace ferrox {
namespace {

using testing::tiny_model;
using testing::TinyFile;
using testing::TinyModel;

const std::vector<std::string>& plain_families() {
  static const std::vector<std::string> names = {"llama", "qwen2", "qwen3"};
  return names;
}

class LoaderTest : public ::testing::Test {
 protected:
  /// The error of loading `file`; empty when it loads.
  std::string load_error(const TinyFile& file) {
    const auto path = folder_ / "model.gguf";
    file.write(path);
    const auto opened = GgufFile::open(path);
    if (!opened) return opened.error().message;
    const auto model = load_model(*opened, {.max_batch_rows = 8});
    return model ? "" : model.error().message;
  }

  void expect_refused(const TinyFile& file, const std::vector<std::string>& words) {
    const std::string error = load_error(file);
    EXPECT_NE(error, "") << "loaded; expected an error with " << words.front();
    for (const std::string& word : words) {
      EXPECT_NE(error.find(word), std::string::npos) << "expected '" << word << "' in: " << error;
    }
  }

  testing::TempFolder folder_;
};

TEST_F(LoaderTest, WholeFilesLoadAndSayWhatTheyAre) {
  for (const std::string& family : plain_families()) {
    TinyModel tiny{.architecture = family};
    const auto path = folder_ / "model.gguf";
    tiny_model(tiny).write(path);
    const auto file = GgufFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    const auto model = load_model(*file, {.max_batch_rows = 8});
    ASSERT_TRUE(model) << model.error().message;
    const ModelShape& shape = (*model)->shape();
    EXPECT_EQ(shape.architecture, family);
    EXPECT_EQ(shape.name, "tiny " + family);
    EXPECT_EQ(shape.n_vocab, tiny.n_vocab);
    EXPECT_EQ(shape.n_embd, tiny.n_embd);
    EXPECT_EQ(shape.n_layers, tiny.n_layers);
    EXPECT_EQ(shape.context_length, 4096);
    ASSERT_EQ(shape.kv_layers.size(), 2u);
    EXPECT_EQ(shape.kv_layers[1].n_kv_heads, 2);
    EXPECT_EQ(shape.kv_layers[1].k_dim, 16);
    EXPECT_EQ(shape.weight_bytes, file->tensor_bytes());
    EXPECT_EQ((*model)->max_batch_rows(), 8);
    EXPECT_GT((*model)->scratch_bytes(1), 0u);
  }
}

TEST_F(LoaderTest, TiedOutputsAndExpertsLoad) {
  EXPECT_EQ(load_error(tiny_model({.has_output = false})), "");
  EXPECT_EQ(load_error(tiny_model({.n_experts = 4})), "");
}

/// Every tensor in turn; only output.weight has a stand-in.
TEST_F(LoaderTest, NoTensorMayBeMissing) {
  for (const std::string& family : plain_families()) {
    const TinyFile whole = tiny_model({.architecture = family, .n_layers = 1});
    for (const TinyFile::Tensor& tensor : whole.tensors) {
      TinyFile file = whole;
      file.remove(tensor.name);
      const bool is_optional =
          tensor.name == "output.weight" || tensor.name.ends_with("norm.weight") || tensor.name.ends_with(".bias");
      const bool is_head_norm =
          tensor.name.find("_q_norm") != std::string::npos || tensor.name.find("_k_norm") != std::string::npos;
      if (is_optional && (is_head_norm || tensor.name == "output.weight" || tensor.name.ends_with(".bias"))) continue;
      expect_refused(file, {tensor.name.substr(0, tensor.name.rfind('.')), "found none"});
    }
  }
}

TEST_F(LoaderTest, NoTensorMayBeLeftOver) {
  for (const std::string& family : plain_families()) {
    TinyFile file = tiny_model({.architecture = family});
    file.add_floats("blk.1.attn_sinks.weight", {4}, {1, 2, 3, 4});
    expect_refused(file, {"blk.1.attn_sinks.weight", family + " family doesn't use it"});
  }
}

/// A layer more than block_count says is left over too.
TEST_F(LoaderTest, NoLayerMayBeLeftOver) {
  TinyFile file = tiny_model({.n_layers = 3});
  file.keys["llama.block_count"] = 2u;
  expect_refused(file, {"blk.2."});
  file.keys["llama.block_count"] = 4u;
  expect_refused(file, {"blk.3.attn_norm.weight", "found none"});
}

TEST_F(LoaderTest, ShapesMustFit) {
  TinyFile file = tiny_model({});
  file.tensor("blk.1.ffn_up.weight").dims = {96, 64};
  expect_refused(file, {"blk.1.ffn_up.weight", "expected shape [64, 96]", "found [96, 64]"});
  file = tiny_model({});
  file.keys["llama.attention.head_count_kv"] = 4u;
  expect_refused(file, {"blk.0.attn_k.weight", "expected shape [64, 64]", "found [64, 32]"});
  file = tiny_model({});
  file.tensor("output_norm.weight").dims = {64, 1};
  expect_refused(file, {"output_norm.weight", "expected shape [64]", "found [64, 1]"});
  file = tiny_model({});
  file.tensor("token_embd.weight").dims = {64 * 80};
  expect_refused(file, {"token_embd.weight"});
}

TEST_F(LoaderTest, UnknownArchitecturesAreRefusedWithTheKnownOnes) {
  TinyFile file = tiny_model({});
  file.keys["general.architecture"] = std::string("bytenet");
  expect_refused(file, {"expected one of", "llama", "qwen3", "found 'bytenet'"});
  file.keys.erase("general.architecture");
  expect_refused(file, {"general.architecture"});
}

TEST_F(LoaderTest, ScaleKeysThatAFamilyDoesntApplyAreRefused) {
  const std::map<std::string, float> values = {{"logit_scale", 0.25f},
                                               {"residual_scale", 0.5f},
                                               {"embedding_scale", 12.0f},
                                               {"attention.scale", 0.1f},
                                               {"attention.clamp_kqv", 8.0f},
                                               {"attention.max_alibi_bias", 8.0f},
                                               {"attn_logit_softcapping", 20.0f},
                                               {"final_logit_softcapping", 15.0f},
                                               {"expert_weights_scale", 2.5f}};
  for (const auto& [key, value] : values) {
    TinyFile file = tiny_model({.n_layers = 1});
    file.keys["llama." + key] = value;
    expect_refused(file, {"llama." + key, "doesn't apply it"});
  }
  TinyFile file = tiny_model({.n_layers = 1});
  file.keys["llama.attention.sliding_window"] = 512u;
  expect_refused(file, {"llama.attention.sliding_window"});
}

/// A value of another kind than usual says as much as a number.
TEST_F(LoaderTest, ScaleKeysOfAnyKindAreRefused) {
  const std::vector<std::pair<std::string, TinyFile::Value>> values = {
      {"attention.sliding_window", std::vector<int32_t>{0, 2}},
      {"attention.sliding_window", std::string("2")},
      {"attention.sliding_window", true},
      {"logit_scale", std::vector<float>{2.0f}},
      {"logit_scale", std::vector<std::string>{"2"}},
      {"attention.causal", false},
      {"use_parallel_residual", true},
      {"swiglu_clamp_exp", std::vector<float>{0.1f}},
      {"rope.scaling.attn_factor", 2.0f}};
  for (const auto& [key, value] : values) {
    TinyFile file = tiny_model({.n_layers = 1});
    file.keys["llama." + key] = value;
    SCOPED_TRACE(key);
    expect_refused(file, {"llama." + key, "doesn't apply it"});
  }
}

TEST_F(LoaderTest, AnEmbeddingIsAMatrixAndNothingBesideIt) {
  for (const bool has_output : {true, false}) {
    TinyFile file = tiny_model({.n_layers = 1, .has_output = has_output});
    file.add_floats("token_embd.scale", {1}, {2.0f});
    expect_refused(file, {"token_embd.scale", "doesn't use it"});
    file = tiny_model({.n_layers = 1, .has_output = has_output});
    const auto n_vocab = static_cast<uint64_t>(TinyModel{}.n_vocab);
    file.add_floats("token_embd.bias", {n_vocab}, std::vector<float>(n_vocab, 1.0f));
    expect_refused(file, {"token_embd.bias", "doesn't use it"});
  }
}

TEST_F(LoaderTest, NeutralValuesAndWritersDefaultsAreNot) {
  TinyFile file = tiny_model({.n_layers = 1});
  file.keys["llama.logit_scale"] = 1.0f;
  file.keys["llama.residual_scale"] = 0.0f;
  file.keys["llama.attn_logit_softcapping"] = 50.0f;
  file.keys["llama.final_logit_softcapping"] = 30.0f;
  file.keys["llama.router_logit_softcapping"] = 30.0f;
  file.keys["llama.expert_group_scale"] = 0.05f;
  file.keys["llama.rope.scaling.factor"] = 0.0f;
  file.keys["llama.attention.sliding_window"] = 0u;
  file.keys["llama.attention.temperature_scale"] = std::vector<int32_t>{0, 0};
  file.keys["llama.attention.causal"] = true;
  file.keys["llama.use_parallel_residual"] = false;
  file.keys["llama.swiglu_clamp_exp"] = std::vector<float>{0.0f, 0.0f};
  file.keys["qwen2.logit_scale"] = 7.0f;  // another family's
  EXPECT_EQ(load_error(file), "");
}

TEST_F(LoaderTest, SizesMustMakeSense) {
  const std::vector<std::tuple<std::string, TinyFile::Value, std::string>> cases = {
      {"block_count", 0u, "expected 1 to"},
      {"block_count", std::string("two"), "block_count"},
      {"embedding_length", 1u << 30, "expected 1 to"},
      {"attention.head_count", 0u, "expected 1 to"},
      {"attention.head_count", 3u, "multiple of head_count_kv 2 in layer 0, found 3"},
      {"attention.key_length", 0u, "found 0"},
      {"attention.key_length", 2048u, "at most 1024"},
      {"rope.dimension_count", 15u, "even number up to 16, found 15"},
      {"rope.dimension_count", 18u, "even number up to 16, found 18"},
      {"feed_forward_length", 0u, "feed_forward_length"},
      {"attention.layer_norm_rms_epsilon", 0.0f, "positive"},
      {"attention.layer_norm_rms_epsilon", std::nanf(""), "positive"},
      {"attention.layer_norm_rms_epsilon", 1e-45f, "positive"},  // its reciprocal is no float
      {"rope.freq_base", -1.0f, "positive"},
      {"rope.freq_base", HUGE_VALF, "positive"},
      {"rope.scaling.factor", 3e38f, "expected a number up to"},
      {"block_count", 1u << 20, "no more layers than the 12 tensors, found 1048576"},
      {"expert_count", 4u, "expert_used_count: expected 1 to 4, found 0"}};
  for (const auto& [key, value, words] : cases) {
    TinyFile file = tiny_model({.n_layers = 1});
    file.keys["llama." + key] = value;
    SCOPED_TRACE(key);
    expect_refused(file, {words});
  }
  for (const char* key : {"block_count", "embedding_length", "attention.head_count", "context_length",
                          "attention.layer_norm_rms_epsilon"}) {
    TinyFile file = tiny_model({.n_layers = 1});
    file.keys.erase(std::string("llama.") + key);
    expect_refused(file, {std::string("llama.") + key});
  }
}

/// What would be divided by, or applied, without sense, in the families that read it.
TEST_F(LoaderTest, NumbersOfFamiliesMustMakeSense) {
  const std::vector<std::tuple<std::string, std::string, TinyFile::Value, std::string>> cases = {
      {"granite", "logit_scale", 0.0f, "positive"},
      {"granite", "logit_scale", 1e-45f, "positive"},
      {"gemma3", "rope.freq_base_swa", 0.0f, "positive"},
      {"gemma3", "rope.freq_base_swa", -1.0f, "positive"},
      {"gemma3", "final_logit_softcapping", -1.0f, "0 or more"},
      {"mimo2", "rope.freq_base_swa", -1.0f, "positive"},
      {"mpt", "attention.clamp_kqv", -1.0f, "0 or more"},
      {"mpt", "attention.max_alibi_bias", -8.0f, "0 or more"},
  };
  for (const auto& [family, key, value, words] : cases) {
    TinyFile file = tiny_model({.architecture = family, .n_layers = 1});
    file.keys[family + ".attention.layer_norm_epsilon"] = 1e-5f;
    for (const char* post_norm : {"post_attention_norm", "post_ffw_norm"}) {
      if (family == "gemma3")
        file.add_floats(fmt::format("blk.0.{}.weight", post_norm), {64}, std::vector<float>(64, 1));
    }
    if (family == "granite") file.keys["granite.logit_scale"] = 1.0f;
    EXPECT_EQ(load_error(file), "") << family << " without the bad number";
    file.keys[family + "." + key] = value;
    SCOPED_TRACE(family + " " + key);
    expect_refused(file, {key, words});
  }
}

TEST_F(LoaderTest, DivisorsMustDivide) {
  for (const float bad : {0.0f, 1e-45f, std::nanf(""), HUGE_VALF}) {
    TinyFile file = tiny_model({.n_layers = 1});
    std::vector<float> divisors(8, 1.0f);
    divisors[5] = bad;
    file.add_floats("rope_freqs.weight", {8}, divisors);
    expect_refused(file, {"rope_freqs.weight", "expected finite numbers other than 0", "at 5"});
  }
}

/// Families whose norms go over all heads at once would read beyond the norm of one.
TEST_F(LoaderTest, NormsOfAllHeadsHaveAllTheirElements) {
  for (const std::string family : {"olmoe", "minimax-m2"}) {
    TinyFile file = tiny_model({.architecture = family, .n_layers = 1, .n_experts = 4});
    file.add_floats("blk.0.attn_q_norm.weight", {64}, std::vector<float>(64, 1.0f));
    file.add_floats("blk.0.attn_k_norm.weight", {32}, std::vector<float>(32, 1.0f));
    EXPECT_EQ(load_error(file), "") << family;
    file.remove("blk.0.attn_q_norm.weight");
    file.add_floats("blk.0.attn_q_norm.weight", {16}, std::vector<float>(16, 1.0f));
    expect_refused(file, {"blk.0.attn_q_norm.weight", "expected 64 elements of all heads, found 16"});
  }
}

TEST_F(LoaderTest, LayersThatDraftTokensAreLeftOut) {
  TinyFile file = tiny_model({.architecture = "bailingmoe2", .n_layers = 3, .n_experts = 4});
  file.keys["bailingmoe2.nextn_predict_layers"] = 1u;
  EXPECT_EQ(load_error(file), "");
  file.keys["bailingmoe2.nextn_predict_layers"] = 3u;
  expect_refused(file, {"nextn_predict_layers", "fewer than block_count 3, found 3"});
  file.keys["bailingmoe2.nextn_predict_layers"] = 0u;
  EXPECT_EQ(load_error(file), "");
}

TEST_F(LoaderTest, RopeScalingsAreTakenOrRefused) {
  TinyFile file = tiny_model({.n_layers = 1});
  file.keys["llama.rope.scaling.factor"] = 4.0f;
  file.keys["llama.rope.scaling.type"] = std::string("linear");
  EXPECT_EQ(load_error(file), "");
  file.keys["llama.rope.scaling.type"] = std::string("longrope");
  expect_refused(file, {"rope.scaling.type", "longrope"});
  file.keys["llama.rope.scaling.type"] = std::string("yarn");
  expect_refused(file, {"rope.scaling.original_context_length"});
  file.keys["llama.rope.scaling.original_context_length"] = 1024u;
  EXPECT_EQ(load_error(file), "");
  file.add_floats("rope_freqs.weight", {8}, std::vector<float>(8, 2.0f));
  EXPECT_EQ(load_error(file), "");
  for (const float factor : {0.0f, 1.0f}) {
    file = tiny_model({.n_layers = 1});
    file.keys["llama.rope.scaling.factor"] = factor;
    file.keys["llama.rope.scaling.type"] = std::string("longrope");
    expect_refused(file, {"rope.scaling.type", "longrope"});
  }
}

/// A factor without a type is the linear scaling that files had before there was another.
TEST_F(LoaderTest, ARopeFactorWithoutATypeIsLinear) {
  const auto logits_of = [this](const std::map<std::string, TinyFile::Value>& keys) {
    TinyFile file = tiny_model({});
    for (const auto& [key, value] : keys) file.keys["llama." + key] = value;
    const auto path = folder_ / "model.gguf";
    file.write(path);
    const GgufFile opened = *GgufFile::open(path);
    const auto model = *load_model(opened, {.max_batch_rows = 8});
    ThreadPool pool(1);
    return testing::run_sequence(*model, {1, 2, 3, 4, 5, 6}, {6}, 16, DType::kF32, pool);
  };
  const auto linear = logits_of({{"rope.scaling.type", std::string("linear")}, {"rope.scaling.factor", 4.0f}});
  EXPECT_EQ(logits_of({{"rope.scaling.factor", 4.0f}}), linear);
  EXPECT_EQ(logits_of({{"rope.scale_linear", 4.0f}}), linear);
  EXPECT_NE(logits_of({}), linear);
  EXPECT_EQ(logits_of({{"rope.scaling.type", std::string("none")}, {"rope.scaling.factor", 4.0f}}), logits_of({}));
}

}  // namespace
}  // namespace ferrox
