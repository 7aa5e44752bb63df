// Does inspect tell what is in a file, whatever its architecture, and nothing that a terminal would obey?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/half.h"
#include "command_run.h"
#include "gguf/writer.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_ferrox;

constexpr int kRow = 64;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> ramp(int n) {
  std::vector<float> values;
  for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(i) * 0.5F - 3);
  return values;
}

// Q8_0 blocks with scale 0.25 and codes 0, 1, 2, ...: floats 0, 0.25, ...
std::vector<std::byte> q8_blocks(int n_blocks) {
  std::vector<std::byte> bytes;
  for (int block = 0; block < n_blocks; ++block) {
    const uint16_t scale = float_to_half(0.25F);
    bytes.push_back(std::byte(scale & 0xff));
    bytes.push_back(std::byte(scale >> 8));
    for (int i = 0; i < 32; ++i) bytes.push_back(std::byte(block * 32 + i));
  }
  return bytes;
}

class Inspect : public ::testing::Test {
 protected:
  void SetUp() override { write({}); }

  /// A file of 3 layers; `layer_tensors` are of 64 floats each.
  void write(const std::vector<std::string>& layer_tensors) {
    GgufWriter writer;
    writer.set_string("general.architecture", "martian");
    writer.set_string("general.name", "evil \x1b[31m name\n\xff");
    writer.set_uint32("martian.block_count", 3);
    writer.set_uint32("martian.embedding_length", 64);
    writer.set_uint32("martian.attention.head_count", 4);
    writer.set_uint32("martian.attention.head_count_kv", 2);
    writer.set_float32("martian.epsilon", 0.5F);
    writer.set_bool("martian.flag", true);
    writer.set_strings("tokenizer.ggml.tokens", std::vector<std::string>(1000, "word"));
    writer.add_tensor("plain", DType::kF32, {kRow, 2}, bytes_of(ramp(2 * kRow)));
    writer.add_tensor("packed", DType::kQ8_0, {kRow}, q8_blocks(2));
    writer.add_tensor("counts", DType::kI32, {3}, bytes_of(std::vector<int32_t>{-7, 0, 9}));
    for (const std::string& name : layer_tensors) writer.add_tensor(name, DType::kF32, {kRow}, bytes_of(ramp(kRow)));
    ASSERT_TRUE(writer.write(path_));
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    std::filesystem::remove(out_);
  }

  std::vector<float> exported(const std::string& tensor) {
    const auto result = run_ferrox({"inspect", path_, "--tensor", tensor, "--out", out_});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    std::ifstream file(out_, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
    return floats;
  }

  // One name per test and process: tests run side by side.
  const std::string path_ = ::testing::TempDir() + "ferrox_inspect_" + std::to_string(getpid()) + ".gguf";
  const std::string out_ = path_ + ".f32";
};

TEST_F(Inspect, TextNamesWhatMatters) {
  const auto result = run_ferrox({"inspect", path_, "--tensors"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("architecture martian"));
  EXPECT_THAT(result.out, HasSubstr("parameters   195"));
  // 3 layers x 2 KV heads x (16 + 16) elements x 2 bytes
  EXPECT_THAT(result.out, HasSubstr("kv cache     384 bytes a token"));
  EXPECT_THAT(result.out, HasSubstr("Q8_0"));
  EXPECT_THAT(result.out, HasSubstr("1000 in all"));
  EXPECT_THAT(result.out, HasSubstr("64 x 2"));
}

TEST_F(Inspect, LayersWithoutKeysTakeNoKvMemory) {
  write({"blk.0.attn_k.weight", "blk.1.ssm_in.weight", "blk.2.attn_qkv.weight"});
  EXPECT_THAT(run_ferrox({"inspect", path_}).out, HasSubstr("kv cache     256 bytes a token"));
  write({"blk.0.ssm_in.weight"});
  EXPECT_THAT(run_ferrox({"inspect", path_}).out, HasSubstr("kv cache     0 bytes a token"));
}

TEST_F(Inspect, NothingOfTheFileReachesTheTerminalRaw) {
  const auto result = run_ferrox({"inspect", path_});
  EXPECT_THAT(result.out, HasSubstr("evil \\x1b[31m name\\n\\xff"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
}

TEST_F(Inspect, JsonIsValidAndComplete) {
  const auto result = run_ferrox({"inspect", "--json", path_});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["architecture"], "martian");
  EXPECT_EQ(json["parameters"], 195);
  EXPECT_EQ(json["kv_bytes_per_token"], 384);
  EXPECT_EQ(json["metadata"]["martian.block_count"], 3);
  EXPECT_EQ(json["metadata"]["martian.flag"], true);
  EXPECT_EQ(json["metadata"]["tokenizer.ggml.tokens"]["count"], 1000);
  EXPECT_EQ(json["types"]["F32"]["tensors"], 1);
  EXPECT_EQ(json["tensors"].size(), 3u);
  EXPECT_EQ(json["tensors"][0]["dims"], (std::vector<int>{64, 2}));
  const auto full = nlohmann::json::parse(run_ferrox({"inspect", "--json", "--full", path_}).out);
  EXPECT_EQ(full["metadata"]["tokenizer.ggml.tokens"].size(), 1000u);
}

TEST_F(Inspect, TensorsLeaveAsFloats) {
  EXPECT_EQ(exported("plain"), ramp(2 * kRow));
  std::vector<float> quarters;
  for (int i = 0; i < 64; ++i) quarters.push_back(static_cast<float>(i) * 0.25F);
  EXPECT_EQ(exported("packed"), quarters);
  EXPECT_EQ(exported("counts"), (std::vector<float>{-7, 0, 9}));
}

TEST_F(Inspect, AnUnknownTensorIsAnsweredWithTheNearest) {
  const auto result = run_ferrox({"inspect", path_, "--tensor", "plian", "--out", out_});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no tensor 'plian'; did you mean 'plain'?"));
}

TEST_F(Inspect, TensorAndOutNeedEachOther) {
  EXPECT_EQ(run_ferrox({"inspect", path_, "--tensor", "plain"}).exit_code, 2);
  EXPECT_EQ(run_ferrox({"inspect", path_, "--out", out_}).exit_code, 2);
  const auto unwritable = run_ferrox({"inspect", path_, "--tensor", "plain", "--out", "/no/such/folder/x"});
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace ferrox
