#include "kv/kv_layout.h"

#include "base/check.h"
#include "base/checked_math.h"
#include "tensor/format.h"
#include "tensor/kv_type.h"

namespace ferrox {
namespace {

constexpr int32_t kMaxPageRows = 65536;  // a page of more is a mistake: no context has use for it
constexpr int64_t kMaxStateFloats = int64_t{1} << 40;
constexpr int kMaxRowElements = 1 << 20;  // keeps a row's bytes and a page's rows far inside 32 and 64 bits

Result<void> validate_type(const char* which, DType type) {
  if (find_kv_type(type) != nullptr) return {};
  const FormatInfo* format = find_format(type);
  return make_error(ErrorCode::kUnsupported, "KV cache: {} type is {}, expected {}", which,
                    format == nullptr ? "unknown" : format->name, kv_type_names());
}

Result<void> validate_row(const char* which, size_t layer, DType type, int n_elements) {
  const KvType& stored = *find_kv_type(type);
  if (n_elements % stored.block_elements == 0) return {};
  return make_error(ErrorCode::kUnsupported,
                    "KV cache: {} rows of layer {} are {} wide, expected a multiple of {} for {}", which, layer,
                    n_elements, stored.block_elements, stored.name);
}

Result<void> validate_shape(size_t layer, const KvLayerShape& shape) {
  for (const int value : {shape.n_kv_heads, shape.k_dim, shape.v_dim}) {
    if (value >= 1 && value <= kMaxRowElements) continue;
    return make_error(ErrorCode::kUnsupported, "KV cache: layer {} has {} heads of {} and {}, expected 1 to {} of each",
                      layer, shape.n_kv_heads, shape.k_dim, shape.v_dim, kMaxRowElements);
  }
  return {};
}

}  // namespace

std::string kv_type_names() {
  std::string names;
  for (const KvType& type : kKvTypes) {
    if (!names.empty()) names += type.dtype == kKvTypes.back().dtype ? " or " : ", ";
    names += type.name;
  }
  return names;
}

Result<DType> parse_kv_type(std::string_view name) {
  for (const KvType& type : kKvTypes) {
    if (type.name == name) return type.dtype;
  }
  return make_error(ErrorCode::kInvalidArgument, "KV cache type '{}': expected {}", name, kv_type_names());
}

Result<void> validate_layout(const KvLayout& layout) {
  TRY(validate_type("K", layout.k_type));
  TRY(validate_type("V", layout.v_type));
  if (layout.page_rows < 1 || layout.page_rows > kMaxPageRows) {
    return make_error(ErrorCode::kInvalidArgument, "KV cache: page size is {} rows, expected 1 to {}", layout.page_rows,
                      kMaxPageRows);
  }
  if (layout.state_floats < 0 || layout.state_floats > kMaxStateFloats) {
    return make_error(ErrorCode::kUnsupported, "KV cache: recurrent state is {} numbers, expected 0 to {}",
                      layout.state_floats, kMaxStateFloats);
  }
  for (size_t layer = 0; layer < layout.layers.size(); ++layer) {
    const KvLayerShape& shape = layout.layers[layer];
    TRY(validate_shape(layer, shape));
    TRY(validate_row("K", layer, layout.k_type, shape.k_dim));
    TRY(validate_row("V", layer, layout.v_type, shape.v_dim));
  }
  return {};
}

int32_t kv_row_bytes(DType type, int n_elements) {
  const KvType* stored = find_kv_type(type);
  CHECK(stored != nullptr, "an element type that a layout allows is known");
  CHECK(n_elements % stored->block_elements == 0, "a row is a whole number of blocks");
  return n_elements / stored->block_elements * stored->block_bytes;
}

uint64_t kv_position_bytes(const KvLayerShape& shape, DType k_type, DType v_type) {
  const auto row = static_cast<uint64_t>(kv_row_bytes(k_type, shape.k_dim)) +
                   static_cast<uint64_t>(kv_row_bytes(v_type, shape.v_dim));
  return saturating_mul(static_cast<uint64_t>(shape.n_kv_heads), row);
}

std::vector<uint64_t> kv_page_bytes_of_kinds(const KvLayout& layout) {
  const AttentionKinds kinds = attention_kinds(layout.layers);
  std::vector<uint64_t> bytes(static_cast<size_t>(kinds.size()), 0);
  for (size_t layer = 0; layer < layout.layers.size(); ++layer) {
    uint64_t& total = bytes[static_cast<size_t>(kinds.of_layer[layer])];
    const uint64_t row = kv_position_bytes(layout.layers[layer], layout.k_type, layout.v_type);
    total = saturating_add(total, saturating_mul(row, static_cast<uint64_t>(layout.page_rows)));
  }
  if (layout.state_floats > 0) bytes.push_back(static_cast<uint64_t>(layout.state_floats) * sizeof(float));
  return bytes;
}

uint64_t kv_page_bytes(const KvLayout& layout) {
  uint64_t total = 0;
  for (const uint64_t bytes : kv_page_bytes_of_kinds(layout)) total = saturating_add(total, bytes);
  return total;
}

int64_t kv_pages_for(int64_t n_positions, int32_t page_rows) {
  return static_cast<int64_t>(ceil_div(static_cast<uint64_t>(n_positions), static_cast<uint64_t>(page_rows)));
}

}  // namespace ferrox
