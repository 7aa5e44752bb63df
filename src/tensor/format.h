// What is one weight format: its name, its block, and how a row becomes floats?
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tensor/dtype.h"

namespace ferrox {

/// One row of the format registry; made from the struct in tensor/formats/<name>.inl.
struct FormatInfo {
  const char* name;  ///< as users know it: "Q4_K"
  DType dtype;
  int block_elements;  ///< weights a block holds
  int block_bytes;     ///< bytes a block takes
  /// Decodes n_elements (a multiple of block_elements) from `row` into `out`.
  void (*decode)(const std::byte* row, float* out, int64_t n_elements);
};

/// The format of `dtype`, or nullptr when this build has none.
const FormatInfo* find_format(DType dtype);

/// The format by its name, case ignored, or nullptr.
const FormatInfo* find_format(std::string_view name);

/// Every format, in name order, ended by nullptr.
extern const FormatInfo* const all_format[];

}  // namespace ferrox
