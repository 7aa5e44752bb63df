// Is a model in several files read as one, and refused when a part is missing, strange or out of order?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gguf/gguf_file.h"
#include "gguf/split_name.h"
#include "gguf/writer.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Part {
  uint32_t index;
  uint32_t n_parts;
  std::string tensor;
};

void write_part(const std::filesystem::path& path, const Part& part, uint32_t n_tensors) {
  GgufWriter writer;
  writer.set_uint32("split.no", part.index);
  writer.set_uint32("split.count", part.n_parts);
  writer.set_uint32("split.tensors.count", n_tensors);
  writer.set_strings("words", {"part", part.tensor});
  writer.add_tensor(part.tensor, DType::kF32, {1}, std::vector<std::byte>(4, std::byte(part.index)));
  ASSERT_TRUE(writer.write(path));
}

class Split : public ::testing::Test {
 protected:
  // Writes m-00001-of-00003.gguf and so on; `parts` are what the files say.
  void write(const std::vector<Part>& parts, uint32_t n_tensors = 3) {
    for (size_t i = 0; i < parts.size(); ++i) write_part(path(i), parts[i], n_tensors);
  }

  std::filesystem::path path(size_t i) const { return folder_ / fmt::format("m-{:05}-of-00003.gguf", i + 1); }

  void expect_refused(const std::filesystem::path& first, const char* message) {
    const auto file = GgufFile::open(first);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, HasSubstr(message));
  }

  testing::TempFolder folder_;
};

TEST_F(Split, IsReadAsOne) {
  write({{0, 3, "a"}, {1, 3, "b"}, {2, 3, "c"}});
  const auto file = GgufFile::open(path(0));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->maps().size(), 3u);
  ASSERT_EQ(file->tensors().size(), 3u);
  for (unsigned char i = 0; i < 3; ++i) EXPECT_EQ(file->tensors()[i].data[0], std::byte(i));
  EXPECT_EQ(file->find_tensor("c"), &file->tensors()[2]);
  EXPECT_EQ((*file->metadata().get_strings("words"))[1], "a");
}

TEST_F(Split, StartsAtTheFirstPart) {
  write({{0, 3, "a"}, {1, 3, "b"}, {2, 3, "c"}});
  expect_refused(path(1), "this is part 2 of 3: expected the first part");
}

TEST_F(Split, NeedsEveryPart) {
  write({{0, 3, "a"}, {1, 3, "b"}});
  expect_refused(path(0), "m-00003-of-00003.gguf");
}

TEST_F(Split, PartsAreWhatTheirNamesSay) {
  write({{0, 3, "a"}, {2, 3, "b"}, {1, 3, "c"}});
  expect_refused(path(0), "expected part 2 of 3, found part 3 of 3");
  write({{0, 3, "a"}, {1, 2, "b"}, {2, 3, "c"}});
  expect_refused(path(0), "expected part 2 of 3, found part 2 of 2");
  write({{3, 3, "a"}});
  expect_refused(path(0), "expected less than split.count, found 3 of 3");
}

TEST_F(Split, TensorsAreUniqueAndComplete) {
  write({{0, 3, "a"}, {1, 3, "b"}, {2, 3, "a"}});
  expect_refused(path(0), "tensor 'a' stands twice");
  write({{0, 3, "a"}, {1, 3, "b"}, {2, 3, "c"}}, 4);
  expect_refused(path(0), "tensors in all parts: expected 4, found 3");
}

TEST_F(Split, TheFirstPartHasTheName) {
  write_part(folder_ / "renamed.gguf", {0, 3, "a"}, 3);
  expect_refused(folder_ / "renamed.gguf", "expected a name that ends in '-00001-of-00003.gguf', found 'renamed.gguf'");
}

TEST_F(Split, OneOfOneIsAWholeFile) {
  write_part(folder_ / "whole.gguf", {0, 1, "a"}, 1);
  EXPECT_TRUE(GgufFile::open(folder_ / "whole.gguf"));
}

TEST(SplitName, CountsFromOneInFiveDigits) {
  EXPECT_EQ(*split_part("d/m-00001-of-00012.gguf", 11, 12), "d/m-00012-of-00012.gguf");
  EXPECT_FALSE(split_part("d/m-00002-of-00012.gguf", 11, 12));
}

}  // namespace
}  // namespace ferrox
