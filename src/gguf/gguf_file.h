// What is in a GGUF file? Its metadata and its tensors, mapped and in place.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_map.h"
#include "base/result.h"
#include "gguf/metadata.h"
#include "tensor/dtype.h"

namespace ferrox {

/// One tensor of the file. `dims` is GGUF's order, the fastest first: a matrix of N rows of K elements is {K, N}.
struct GgufTensor {
  std::string name;
  DType dtype;
  std::vector<uint64_t> dims;  ///< 1 to 4 of them
  uint64_t n_elements;
  uint64_t size_bytes;
  const std::byte* data;  ///< inside the map, aligned as the file says
};

class GgufFile {
 public:
  /// Opens a GGUF v2 or v3 file; for `name-00001-of-0000N.gguf` its siblings too. Every count, length, offset and
  /// product is checked against the file's size before use. Errors name the file, the place, expected and found.
  static Result<GgufFile> open(const std::filesystem::path& path);

  /// The same for a file that is already in memory (the embedded model). `bytes` must outlive the result.
  static Result<GgufFile> parse(std::span<const std::byte> bytes, std::string name);

  GgufFile(GgufFile&&) noexcept = default;
  GgufFile& operator=(GgufFile&&) noexcept = default;

  const std::string& name() const { return name_; }  ///< for messages
  uint32_t version() const { return version_; }
  const Metadata& metadata() const { return metadata_; }
  std::span<const GgufTensor> tensors() const { return tensors_; }
  const GgufTensor* find_tensor(std::string_view name) const;
  uint64_t tensor_bytes() const;  ///< sum of size_bytes; no more than the files hold, since tensors don't overlap
  std::span<const FileMap> maps() const { return maps_; }

 private:
  GgufFile() = default;
  static Result<GgufFile> parse_part(std::span<const std::byte> bytes);
  Result<void> add_siblings(const std::filesystem::path& path, uint64_t n_parts);
  Result<void> index_tensors();

  std::string name_;
  uint32_t version_ = 0;
  std::vector<FileMap> maps_;
  Metadata metadata_;
  std::vector<GgufTensor> tensors_;
  std::vector<uint32_t> by_name_;  // places in tensors_, in name order
};

}  // namespace ferrox
