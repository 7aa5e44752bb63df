#include "gguf/tensor_size.h"

#include <optional>

#include "base/checked_math.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

struct BlockLayout {
  const char* name;
  uint64_t block_elements;
  uint64_t block_bytes;
};

// Weight formats, and the one integer type that tensors beside the weights have.
std::optional<BlockLayout> block_layout(DType dtype) {
  if (dtype == DType::kI32) return BlockLayout{"I32", 1, 4};
  const auto* format = find_format(dtype);
  if (format == nullptr) return std::nullopt;
  return BlockLayout{format->name, static_cast<uint64_t>(format->block_elements),
                     static_cast<uint64_t>(format->block_bytes)};
}

// Types that exist, or existed, and hold no weights that this program reads.
const char* foreign_type_name(uint32_t id) {
  switch (id) {
    case 4:
      return "Q4_2, withdrawn";
    case 5:
      return "Q4_3, withdrawn";
    case 9:
      return "Q8_1, for activations";
    case 15:
      return "Q8_K, for activations";
    case 24:
      return "I8";
    case 25:
      return "I16";
    case 27:
      return "I64";
    case 28:
      return "F64";
    case 31:
      return "Q4_0_4_4, withdrawn";
    case 32:
      return "Q4_0_4_8, withdrawn";
    case 33:
      return "Q4_0_8_8, withdrawn";
    case 36:
      return "IQ4_NL_4_4, withdrawn";
    case 37:
      return "IQ4_NL_4_8, withdrawn";
    case 38:
      return "IQ4_NL_8_8, withdrawn";
    default:
      return "unknown";
  }
}

}  // namespace

Result<DType> tensor_type(uint32_t id) {
  const auto dtype = static_cast<DType>(id);
  if (block_layout(dtype)) return dtype;
  return make_error(ErrorCode::kUnsupported, "type: expected a weight format of this program, found number {} ({})", id,
                    foreign_type_name(id));
}

Result<TensorSize> tensor_size(DType dtype, std::span<const uint64_t> dims) {
  const auto layout = block_layout(dtype);
  if (!layout) return tensor_type(static_cast<uint32_t>(dtype)).error();
  if (dims.empty() || dims.size() > 4) {
    return make_error(ErrorCode::kCorrupt, "dimensions: expected 1 to 4, found {}", dims.size());
  }
  uint64_t n_elements = 1;
  for (const auto dim : dims) {
    const auto product = checked_mul(n_elements, dim);
    if (dim == 0 || !product) {
      return make_error(ErrorCode::kCorrupt, "dimensions {}: expected a product between 1 and 2^64 - 1",
                        fmt::join(dims, " x "));
    }
    n_elements = *product;
  }
  if (dims[0] % layout->block_elements != 0) {
    return make_error(ErrorCode::kCorrupt, "row of {} elements: expected a multiple of {}, the block of {}", dims[0],
                      layout->block_elements, layout->name);
  }
  const auto size_bytes = checked_mul(n_elements / layout->block_elements, layout->block_bytes);
  if (!size_bytes) {
    return make_error(ErrorCode::kCorrupt, "dimensions {} of {}: the size exceeds 2^64 bytes", fmt::join(dims, " x "),
                      layout->name);
  }
  return TensorSize{n_elements, *size_bytes};
}

}  // namespace ferrox
