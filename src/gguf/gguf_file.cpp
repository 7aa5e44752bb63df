#include "gguf/gguf_file.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "gguf/byte_cursor.h"
#include "gguf/file_magic.h"
#include "gguf/header.h"
#include "gguf/split_name.h"
#include "gguf/tensor_directory.h"

namespace ferrox {
namespace {

struct SplitPosition {
  uint64_t index;    // of this file, from 0
  uint64_t n_parts;  // 1 for a file that is whole
};

Result<SplitPosition> split_position(const Metadata& metadata) {
  constexpr uint64_t kMaxParts = 65535;  // the key holds 16 bits
  TRY_ASSIGN(const auto n_parts, metadata.get_uint_or("split.count", 1));
  TRY_ASSIGN(const auto index, metadata.get_uint_or("split.no", 0));
  if (n_parts <= 1 && index == 0) return SplitPosition{0, 1};
  if (index < n_parts && n_parts <= kMaxParts) return SplitPosition{index, n_parts};
  return make_error(ErrorCode::kCorrupt, "split.no: expected less than split.count, found {} of {}", index, n_parts);
}

Result<void> expect_part(const Metadata& metadata, uint64_t index, uint64_t n_parts) {
  TRY_ASSIGN(const auto found, split_position(metadata));
  if (found.index == index && found.n_parts == n_parts) return {};
  return make_error(ErrorCode::kCorrupt, "expected part {} of {}, found part {} of {}", index + 1, n_parts,
                    found.index + 1, found.n_parts);
}

// The total that the first part announces, if it does.
Result<void> expect_total(const Metadata& metadata, size_t n_tensors) {
  TRY_ASSIGN(const auto expected, metadata.get_uint_or("split.tensors.count", n_tensors));
  if (expected == n_tensors) return {};
  return make_error(ErrorCode::kCorrupt, "tensors in all parts: expected {}, found {}", expected, n_tensors);
}

Error in_file(std::string_view name, const Error& error) {
  return {error.code, fmt::format("{}: {}", name, error.message)};
}

}  // namespace

Result<GgufFile> GgufFile::parse_part(std::span<const std::byte> bytes) {
  TRY(check_magic(bytes));
  ByteCursor cursor(bytes.first(std::min<uint64_t>(bytes.size(), kMaxHeaderBytes)));
  TRY_ASSIGN(auto header, read_header(cursor));
  GgufFile file;
  TRY_ASSIGN(file.tensors_, read_tensor_directory(cursor, header, bytes));
  file.version_ = header.version;
  file.metadata_ = std::move(header.metadata);
  TRY(file.index_tensors());
  return file;
}

Result<void> GgufFile::index_tensors() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0);
  const auto name_of = [this](uint32_t i) -> const std::string& { return tensors_[i].name; };
  std::sort(by_name_.begin(), by_name_.end(), [&](uint32_t a, uint32_t b) { return name_of(a) < name_of(b); });
  const auto same = [&](uint32_t a, uint32_t b) { return name_of(a) == name_of(b); };
  const auto twice = std::adjacent_find(by_name_.begin(), by_name_.end(), same);
  if (twice == by_name_.end()) return {};
  return make_error(ErrorCode::kCorrupt, "tensor '{}' stands twice", name_of(*twice));
}

Result<GgufFile> GgufFile::parse(std::span<const std::byte> bytes, std::string name) {
  auto file = parse_part(bytes);
  if (!file) return in_file(name, file.error());
  if (const auto whole = expect_part(file->metadata_, 0, 1); !whole) return in_file(name, whole.error());
  file->name_ = std::move(name);
  return file;
}

Result<void> GgufFile::add_siblings(const std::filesystem::path& path, uint64_t n_parts) {
  for (uint64_t i = 1; i < n_parts; ++i) {
    TRY_ASSIGN(const auto part_path, split_part(path, i, n_parts));
    TRY_ASSIGN(auto map, FileMap::open(part_path));
    auto part = parse_part(map.bytes());
    if (!part) return in_file(part_path.string(), part.error());
    const auto expected = expect_part(part->metadata_, i, n_parts);
    if (!expected) return in_file(part_path.string(), expected.error());
    std::move(part->tensors_.begin(), part->tensors_.end(), std::back_inserter(tensors_));
    maps_.push_back(std::move(map));
  }
  TRY(expect_total(metadata_, tensors_.size()));
  return index_tensors();
}

Result<GgufFile> GgufFile::open(const std::filesystem::path& path) {
  TRY_ASSIGN(auto map, FileMap::open(path));
  auto file = parse_part(map.bytes());
  if (!file) return in_file(path.string(), file.error());
  file->name_ = path.string();
  file->maps_.push_back(std::move(map));
  const auto position = split_position(file->metadata_);
  if (!position) return in_file(file->name_, position.error());
  if (position->n_parts == 1) return file;
  if (position->index != 0) {
    return make_error(ErrorCode::kInvalidArgument, "{}: this is part {} of {}: expected the first part", file->name_,
                      position->index + 1, position->n_parts);
  }
  if (const auto added = file->add_siblings(path, position->n_parts); !added)
    return in_file(file->name_, added.error());
  return file;
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [this](uint32_t i, std::string_view wanted) { return tensors_[i].name < wanted; });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

uint64_t GgufFile::tensor_bytes() const {
  uint64_t total = 0;
  for (const auto& tensor : tensors_) total += tensor.size_bytes;
  return total;
}

}  // namespace ferrox
