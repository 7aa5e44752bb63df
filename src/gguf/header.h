// What does the front of a GGUF file say: version, how many tensors, and the metadata?
//   | 'GGUF' | version: u32 | n_tensors: u64 | n_kv: u64 | n_kv pairs | n_tensors tensor entries | padding | data |
#pragma once

#include "base/result.h"
#include "gguf/byte_cursor.h"
#include "gguf/metadata.h"

namespace ferrox {

/// Version, tensor directory and metadata must lie in this many bytes. Real ones take up to about 20 MB (vocabulary);
/// the bound keeps what a sparse file of terabytes can make us allocate near one gigabyte.
inline constexpr uint64_t kMaxHeaderBytes = uint64_t{128} << 20;

struct GgufHeader {
  uint32_t version;
  uint64_t n_tensors;
  Metadata metadata;
};

/// Reads from the magic to the end of the metadata; the cursor then stands at the first tensor entry.
/// Errors: another magic, version or byte order; counts and lengths that exceed the bytes left; a duplicate key.
Result<GgufHeader> read_header(ByteCursor& cursor);

/// A key or tensor name: 1 to 65535 printable ASCII characters. `what` names it in the error.
Result<std::string_view> read_name(ByteCursor& cursor, const char* what);

}  // namespace ferrox
