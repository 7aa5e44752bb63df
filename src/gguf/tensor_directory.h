// Which tensors does one file hold, and where do their bytes lie?
//   entry: | name length: u64 | name | n_dims: u32 | dim[n_dims]: u64 | type: u32 | offset: u64 |
// Offsets count from the start of the data, which is the end of the entries rounded up to the alignment.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "gguf/byte_cursor.h"
#include "gguf/gguf_file.h"
#include "gguf/header.h"

namespace ferrox {

/// Reads the entries that follow the header in `file` (all of one file's bytes). Errors: counts that exceed the file,
/// bad dimensions or types, offsets off the alignment or beyond the end, tensors that overlap.
Result<std::vector<GgufTensor>> read_tensor_directory(ByteCursor& cursor, const GgufHeader& header,
                                                      std::span<const std::byte> file);

}  // namespace ferrox
