// Does every weight format decode to the floats that another implementation computed, bit for bit?
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "support/vectors.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

// One vector file: | type: i32 | K: i32 | n_rows: i32 | row bytes: i32 | raw rows | decoded f32 | source f32 |
struct FormatVector {
  DType dtype;
  int64_t row_elements;
  int64_t n_rows;
  int64_t row_bytes;
  std::vector<std::byte> raw;   // [n_rows][row_bytes]
  std::vector<float> expected;  // [n_rows][row_elements]
};

FormatVector read_vector(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  int32_t head[4];
  std::memcpy(head, bytes.data(), sizeof head);
  FormatVector out{static_cast<DType>(head[0]), head[1], head[2], head[3], {}, {}};
  out.raw.resize(static_cast<size_t>(out.n_rows * out.row_bytes));
  out.expected.resize(static_cast<size_t>(out.n_rows * out.row_elements));
  std::memcpy(out.raw.data(), bytes.data() + sizeof head, out.raw.size());
  std::memcpy(out.expected.data(), bytes.data() + sizeof head + out.raw.size(), out.expected.size() * sizeof(float));
  return out;
}

void expect_same_bits(const FormatInfo& format, const FormatVector& vector) {
  ASSERT_EQ(vector.row_elements % format.block_elements, 0);
  ASSERT_EQ(vector.row_elements / format.block_elements * format.block_bytes, vector.row_bytes);
  std::vector<float> decoded(vector.expected.size());
  for (int64_t row = 0; row < vector.n_rows; ++row) {
    format.decode(vector.raw.data() + row * vector.row_bytes, decoded.data() + row * vector.row_elements,
                  vector.row_elements);
  }
  for (size_t i = 0; i < decoded.size(); ++i) {
    ASSERT_EQ(std::memcmp(&decoded[i], &vector.expected[i], sizeof(float)), 0)
        << "element " << i << ": expected " << vector.expected[i] << ", found " << decoded[i];
  }
}

TEST(FormatVectors, EveryFormatMatchesBitForBit) {
  FERROX_VECTORS_OR_SKIP(folder, testing::vector_dir());
  std::map<DType, std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "quant")) {
    if (entry.path().extension() == ".bin") files[read_vector(entry.path()).dtype] = entry.path();
  }
  size_t n_formats = 0;
  for (const auto* const* format = all_format; *format != nullptr; ++format) {
    SCOPED_TRACE((*format)->name);
    const auto file = files.find((*format)->dtype);
    if (file == files.end()) {
      EXPECT_EQ((*format)->dtype, DType::kF32) << "a format without outside vectors";
      continue;
    }
    expect_same_bits(**format, read_vector(file->second));
    ++n_formats;
    files.erase(file);
  }
  testing::record_vectors(n_formats);
  for (const auto& [dtype, path] : files) ADD_FAILURE() << path << ": no format of type " << static_cast<int>(dtype);
}

}  // namespace
}  // namespace ferrox
