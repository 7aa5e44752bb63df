// How many bytes does a tensor of this type and these dimensions take in a file?
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "tensor/dtype.h"

namespace ferrox {

struct TensorSize {
  uint64_t n_elements;
  uint64_t size_bytes;
};

/// Checks dimensions (fastest first) against the type: 1 to 4 of them, none 0, rows of whole blocks, no overflow.
Result<TensorSize> tensor_size(DType dtype, std::span<const uint64_t> dims);

/// The type with this number in a file. Errors: a type that this program doesn't read, named where a name is known.
Result<DType> tensor_type(uint32_t id);

}  // namespace ferrox
