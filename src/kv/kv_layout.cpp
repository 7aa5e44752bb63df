#include "kv/kv_layout.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/checked_math.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

constexpr std::array kStorableTypes = {DType::kF16, DType::kBF16, DType::kF32};
constexpr int32_t kMaxPageRows = 65536;   // a page of more is a mistake: no context has use for it
constexpr int kMaxRowElements = 1 << 20;  // keeps a row's bytes and a page's rows far inside 32 and 64 bits
constexpr int64_t kContextStep = 256;     // a context is reported in round numbers

const char* type_name(DType type) {
  const FormatInfo* format = find_format(type);
  return format == nullptr ? "unknown" : format->name;
}

Result<void> validate_type(const char* which, DType type) {
  if (std::find(kStorableTypes.begin(), kStorableTypes.end(), type) == kStorableTypes.end()) {
    return make_error(ErrorCode::kUnsupported, "KV cache: {} type is {}, expected F16, BF16 or F32", which,
                      type_name(type));
  }
  return {};
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

Result<void> validate_layout(const KvLayout& layout) {
  TRY(validate_type("K", layout.k_type));
  TRY(validate_type("V", layout.v_type));
  if (layout.page_rows < 1 || layout.page_rows > kMaxPageRows) {
    return make_error(ErrorCode::kInvalidArgument, "KV cache: page size is {} rows, expected 1 to {}", layout.page_rows,
                      kMaxPageRows);
  }
  for (size_t layer = 0; layer < layout.layers.size(); ++layer) TRY(validate_shape(layer, layout.layers[layer]));
  return {};
}

int32_t kv_row_bytes(DType type, int n_elements) {
  const FormatInfo* format = find_format(type);
  CHECK(format != nullptr, "an element type that a layout allows is registered");
  CHECK(n_elements % format->block_elements == 0, "a row is a whole number of blocks");
  return n_elements / format->block_elements * format->block_bytes;
}

uint64_t kv_page_bytes(const KvLayout& layout) {
  uint64_t bytes = 0;
  for (const KvLayerShape& shape : layout.layers) {
    const auto row = static_cast<uint64_t>(kv_row_bytes(layout.k_type, shape.k_dim)) +
                     static_cast<uint64_t>(kv_row_bytes(layout.v_type, shape.v_dim));
    const uint64_t rows =
        saturating_mul(static_cast<uint64_t>(shape.n_kv_heads), static_cast<uint64_t>(layout.page_rows));
    bytes = saturating_add(bytes, saturating_mul(row, rows));
  }
  return bytes;
}

int64_t kv_pages_for(int64_t n_positions, int32_t page_rows) {
  return static_cast<int64_t>(ceil_div(static_cast<uint64_t>(n_positions), static_cast<uint64_t>(page_rows)));
}

int64_t largest_context(const KvLayout& layout, uint64_t available_bytes, int64_t trained_context) {
  const uint64_t page_bytes = kv_page_bytes(layout);
  if (page_bytes == 0) return trained_context;
  const uint64_t positions = saturating_mul(available_bytes / page_bytes, static_cast<uint64_t>(layout.page_rows));
  const auto context = static_cast<int64_t>(std::min(positions, static_cast<uint64_t>(trained_context)));
  return context < kContextStep || context == trained_context ? context : context / kContextStep * kContextStep;
}

}  // namespace ferrox
