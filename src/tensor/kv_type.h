// In which element types may K and V be kept, and what do they cost?
#pragma once

#include <array>
#include <string_view>

#include "tensor/dtype.h"

namespace ferrox {

/// How rows of K or V are stored.
struct KvType {
  std::string_view name;  ///< as users write it: "q8_0"
  DType dtype;
  int block_elements;  ///< a row is a whole number of blocks
  int block_bytes;
};

/// turbo4 is a type of KV memory alone: rows are rotated, then kept as 4-bit codes with a scale per 32.
inline constexpr std::array<KvType, 6> kKvTypes = {{{"f16", DType::kF16, 1, 2},
                                                    {"bf16", DType::kBF16, 1, 2},
                                                    {"f32", DType::kF32, 1, 4},
                                                    {"q8_0", DType::kQ8_0, 32, 34},
                                                    {"q4_0", DType::kQ4_0, 32, 18},
                                                    {"turbo4", DType::kTurbo4, 32, 18}}};

/// The entry of `dtype`, or nullptr when K and V are never kept so.
constexpr const KvType* find_kv_type(DType dtype) {
  for (const KvType& type : kKvTypes) {
    if (type.dtype == dtype) return &type;
  }
  return nullptr;
}

}  // namespace ferrox
