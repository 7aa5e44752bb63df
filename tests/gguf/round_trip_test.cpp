// Does the reader find what the writer wrote?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "gguf/gguf_file.h"
#include "gguf/tensor_size.h"
#include "gguf/writer.h"
#include "support/temp_folder.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> pattern(size_t size_bytes, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<std::byte> out(size_bytes);
  for (auto& byte : out) byte = static_cast<std::byte>(rng());
  return out;
}

TEST(RoundTrip, MetadataOfEveryKind) {
  const testing::TempFolder folder;
  GgufWriter writer;
  writer.set_uint32("a.uint", 4000000000u);
  writer.set_float32("a.float", 0.1f);
  writer.set_bool("a.bool", false);
  writer.set_string("a.string", std::string("nul \0 inside", 12));
  writer.set_strings("a.strings", {"", "two", "\xff"});
  writer.set_int32s("a.ints", {-1, 0, 2147483647});
  writer.set_float32s("a.floats", {0.5f, -0.0f});
  ASSERT_TRUE(writer.write(folder / "m.gguf"));
  const auto file = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(file) << file.error().message;
  const auto& metadata = file->metadata();
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(metadata.entries().size(), 7u);
  EXPECT_EQ(*metadata.get_uint("a.uint"), 4000000000u);
  EXPECT_EQ(static_cast<float>(*metadata.get_float("a.float")), 0.1f);
  EXPECT_EQ(*metadata.get_bool("a.bool"), false);
  EXPECT_EQ(*metadata.get_string("a.string"), std::string("nul \0 inside", 12));
  EXPECT_THAT(*metadata.get_strings("a.strings"), ElementsAre("", "two", "\xff"));
  EXPECT_THAT(*metadata.get_ints("a.ints"), ElementsAre(-1, 0, 2147483647));
  EXPECT_THAT(*metadata.get_floats("a.floats"), ElementsAre(0.5f, -0.0f));
}

// Two rows of two blocks in every format, so that every size is tried.
TEST(RoundTrip, TensorsOfEveryFormat) {
  const testing::TempFolder folder;
  GgufWriter writer;
  for (const auto* const* format = all_format; *format != nullptr; ++format) {
    const auto row = static_cast<uint64_t>(2 * (*format)->block_elements);
    writer.add_tensor((*format)->name, (*format)->dtype, {row, 2},
                      pattern(static_cast<size_t>(4 * (*format)->block_bytes), 1));
  }
  writer.add_tensor("indices", DType::kI32, {3}, pattern(12, 1));
  ASSERT_TRUE(writer.write(folder / "m.gguf"));

  const auto file = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(file) << file.error().message;
  uint64_t total = 0;
  for (const auto& tensor : file->tensors()) {
    SCOPED_TRACE(tensor.name);
    const auto expected = pattern(tensor.size_bytes, 1);
    EXPECT_EQ(std::vector(tensor.data, tensor.data + tensor.size_bytes), expected);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data) % 32, 0u);
    EXPECT_EQ(file->find_tensor(tensor.name), &tensor);
    total += tensor.size_bytes;
  }
  EXPECT_EQ(file->tensor_bytes(), total);
  ASSERT_NE(file->find_tensor("Q4_K"), nullptr);
  EXPECT_THAT(file->find_tensor("Q4_K")->dims, ElementsAre(512, 2));
  EXPECT_EQ(file->find_tensor("Q4_K")->size_bytes, 4u * 144);
  EXPECT_EQ(file->find_tensor("Q4_K")->n_elements, 1024u);
  EXPECT_EQ(file->find_tensor("indices")->size_bytes, 12u);
  EXPECT_EQ(file->find_tensor("Q4_"), nullptr);
  EXPECT_EQ(file->find_tensor("Q4_KK"), nullptr);
}

TEST(RoundTrip, ViewsOutliveAMove) {
  const testing::TempFolder folder;
  GgufWriter writer;
  writer.set_strings("words", {"one", "two"});
  writer.add_tensor("t", DType::kF32, {8}, pattern(32, 2));
  ASSERT_TRUE(writer.write(folder / "m.gguf"));
  auto first = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(first);
  const auto second = std::move(*first);
  EXPECT_THAT(*second.metadata().get_strings("words"), ElementsAre("one", "two"));
  EXPECT_EQ(std::memcmp(second.find_tensor("t")->data, pattern(32, 2).data(), 32), 0);
}

TEST(RoundTrip, ParsesBytesInMemory) {
  const testing::TempFolder folder;
  GgufWriter writer;
  writer.set_string("general.name", "embedded");
  writer.add_tensor("t", DType::kF32, {8}, pattern(32, 2));
  ASSERT_TRUE(writer.write(folder / "m.gguf"));
  std::ifstream in(folder / "m.gguf", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto file = GgufFile::parse(std::as_bytes(std::span(text)), "embedded");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->name(), "embedded");
  EXPECT_TRUE(file->maps().empty());
  EXPECT_EQ(std::memcmp(file->find_tensor("t")->data, pattern(32, 2).data(), 32), 0);
}

TEST(RoundTrip, ProducersGiveBytesInPieces) {
  const testing::TempFolder folder;
  const auto bytes = pattern(400, 3);
  GgufWriter writer;
  writer.add_tensor("t", DType::kF32, {100}, [&](const GgufWriter::Sink& sink) {
    sink(std::span(bytes).first(1));
    sink({});
    sink(std::span(bytes).subspan(1));
  });
  ASSERT_TRUE(writer.write(folder / "m.gguf"));
  const auto file = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(std::memcmp(file->find_tensor("t")->data, bytes.data(), 400), 0);
}

TEST(Writer, RefusesAndLeavesNothingBehind) {
  const testing::TempFolder folder;
  const auto expect_refused = [&](const GgufWriter& writer, const char* message) {
    const auto written = writer.write(folder / "m.gguf");
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr(message));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  };
  GgufWriter short_tensor;
  short_tensor.add_tensor("t", DType::kF32, {8}, pattern(31, 1));
  expect_refused(short_tensor, "tensor 't': expected 32 bytes, its producer gave 31");
  GgufWriter ragged_row;
  ragged_row.add_tensor("t", DType::kQ4_0, {33}, pattern(18, 1));
  expect_refused(ragged_row, "multiple of 32");
  GgufWriter twice;
  twice.add_tensor("t", DType::kF32, {1}, pattern(4, 1));
  twice.add_tensor("t", DType::kF32, {1}, pattern(4, 1));
  expect_refused(twice, "tensor 't' was added twice");
  GgufWriter same_key;
  same_key.set_bool("k", true);
  same_key.set_uint32("k", 1);
  expect_refused(same_key, "'k' was set twice");
}

TEST(Writer, NamesAFolderThatIsNotThere) {
  const testing::TempFolder folder;
  const auto written = GgufWriter().write(folder.path() / "absent" / "m.gguf");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_THAT(written.error().message, HasSubstr("absent"));
}

TEST(GgufFile, NamesAFileThatIsNotThere) {
  const auto file = GgufFile::open("/nowhere/m.gguf");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(file.error().message, HasSubstr("/nowhere/m.gguf"));
}

}  // namespace
}  // namespace ferrox
