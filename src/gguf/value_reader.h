// How does a metadata value stand in the file?
//   scalar: | type: u32 | value |          string: | 8: u32 | length: u64 | bytes |
//   array:  | 9: u32 | element type: u32 | count: u64 | elements |
#pragma once

#include "base/result.h"
#include "gguf/byte_cursor.h"
#include "gguf/metadata.h"

namespace ferrox {

/// The type numbers of metadata values.
enum class ValueType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

/// Reads a type and its value. Errors: unknown type, array in an array, boolean other than 0 and 1, lengths and counts
/// that exceed the bytes left (seen before anything is allocated).
Result<MetaValue> read_value(ByteCursor& cursor);

}  // namespace ferrox
