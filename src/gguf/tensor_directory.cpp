#include "gguf/tensor_directory.h"

#include <algorithm>
#include <bit>

#include "base/checked_math.h"
#include "gguf/tensor_size.h"

namespace ferrox {
namespace {

constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 8 + 4 + 8;  // shortest name, one dimension
constexpr uint64_t kMaxTensors = 1 << 18;                   // real files have up to some thousands
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kMaxAlignment = 1 << 20;  // far above any page or sector size

struct Entry {
  GgufTensor tensor;
  uint64_t offset;  // from the start of the data
};

Result<uint64_t> alignment_of(const Metadata& metadata) {
  TRY_ASSIGN(const auto alignment, metadata.get_uint_or("general.alignment", kDefaultAlignment));
  if (std::has_single_bit(alignment) && alignment <= kMaxAlignment) return alignment;
  return make_error(ErrorCode::kCorrupt, "general.alignment: expected a power of two up to {}, found {}", kMaxAlignment,
                    alignment);
}

// Everything of an entry after its name.
Result<void> read_layout(ByteCursor& cursor, Entry& entry) {
  TRY_ASSIGN(const auto n_dims, cursor.read<uint32_t>("the number of dimensions"));
  if (n_dims < 1 || n_dims > 4) {
    return make_error(ErrorCode::kCorrupt, "dimensions: expected 1 to 4, found {}", n_dims);
  }
  auto& tensor = entry.tensor;
  tensor.dims.resize(n_dims);
  for (auto& dim : tensor.dims) {
    TRY_ASSIGN(dim, cursor.read<uint64_t>("a dimension"));
  }
  TRY_ASSIGN(const auto type, cursor.read<uint32_t>("the type"));
  TRY_ASSIGN(tensor.dtype, tensor_type(type));
  TRY_ASSIGN(entry.offset, cursor.read<uint64_t>("the offset"));
  TRY_ASSIGN(const auto size, tensor_size(tensor.dtype, tensor.dims));
  tensor.n_elements = size.n_elements;
  tensor.size_bytes = size.size_bytes;
  return {};
}

Result<Entry> read_entry(ByteCursor& cursor) {
  TRY_ASSIGN(const auto name, read_name(cursor, "a tensor name"));
  Entry entry{};
  entry.tensor.name = name;
  const auto layout = read_layout(cursor, entry);
  if (layout) return entry;
  return make_error(layout.error().code, "tensor '{}': {}", name, layout.error().message);
}

// Points the tensor at its bytes in `data`.
Result<void> place(Entry& entry, uint64_t alignment, std::span<const std::byte> data) {
  auto& tensor = entry.tensor;
  if (entry.offset % alignment != 0) {
    return make_error(ErrorCode::kCorrupt, "tensor '{}': offset {}: expected a multiple of the alignment {}",
                      tensor.name, entry.offset, alignment);
  }
  const auto end = checked_add(entry.offset, tensor.size_bytes);
  if (!end || *end > data.size()) {
    return make_error(ErrorCode::kCorrupt, "tensor '{}': {} bytes at offset {}: the file has {} bytes of data",
                      tensor.name, tensor.size_bytes, entry.offset, data.size());
  }
  tensor.data = data.data() + entry.offset;
  return {};
}

Result<void> refuse_overlaps(const std::vector<GgufTensor>& tensors) {
  std::vector<const GgufTensor*> by_place;
  by_place.reserve(tensors.size());
  for (const auto& tensor : tensors) by_place.push_back(&tensor);
  std::sort(by_place.begin(), by_place.end(), [](const auto* a, const auto* b) { return a->data < b->data; });
  const auto overlap = [](const auto* a, const auto* b) { return a->data + a->size_bytes > b->data; };
  const auto at = std::adjacent_find(by_place.begin(), by_place.end(), overlap);
  if (at == by_place.end()) return {};
  return make_error(ErrorCode::kCorrupt, "tensors '{}' and '{}' overlap in the file", (*at)->name, (*(at + 1))->name);
}

}  // namespace

Result<std::vector<GgufTensor>> read_tensor_directory(ByteCursor& cursor, const GgufHeader& header,
                                                      std::span<const std::byte> file) {
  TRY_ASSIGN(const auto alignment, alignment_of(header.metadata));
  TRY(cursor.expect_room(header.n_tensors, kMinEntryBytes, "tensor entries"));
  if (header.n_tensors > kMaxTensors) {
    return make_error(ErrorCode::kUnsupported, "tensors: expected at most {}, found {}", kMaxTensors, header.n_tensors);
  }
  std::vector<Entry> entries;
  entries.reserve(header.n_tensors);
  for (uint64_t i = 0; i < header.n_tensors; ++i) {
    TRY_ASSIGN(auto entry, read_entry(cursor));
    entries.push_back(std::move(entry));
  }

  const uint64_t data_start = ceil_div(cursor.offset(), alignment) * alignment;
  const auto data = file.subspan(std::min<uint64_t>(data_start, file.size()));
  std::vector<GgufTensor> tensors;
  tensors.reserve(entries.size());
  for (auto& entry : entries) {
    TRY(place(entry, alignment, data));
    tensors.push_back(std::move(entry.tensor));
  }
  TRY(refuse_overlaps(tensors));
  return tensors;
}

}  // namespace ferrox
