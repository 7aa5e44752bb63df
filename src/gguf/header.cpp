#include "gguf/header.h"

#include <algorithm>

#include "gguf/value_reader.h"

namespace ferrox {
namespace {

constexpr uint64_t kMaxNameBytes = 65535;          // the format's own limit for keys
constexpr uint64_t kMinPairBytes = 8 + 1 + 4 + 1;  // key length, shortest key, type, smallest value
constexpr uint64_t kMaxPairs = 65536;              // real files have some dozens

Result<uint32_t> read_version(ByteCursor& cursor) {
  TRY_ASSIGN(const auto version, cursor.read<uint32_t>("the version"));
  if (version == 2 || version == 3) return version;
  if (version != 0 && (version & 0xffff) == 0) {
    return make_error(ErrorCode::kUnsupported, "this is a big-endian gguf file (version {}); expected little endian",
                      __builtin_bswap32(version));
  }
  const char* hint = version == 1 ? "; convert the original model again" : "";
  return make_error(ErrorCode::kUnsupported, "gguf version: expected 2 or 3, found {}{}", version, hint);
}

Result<void> read_pair(ByteCursor& cursor, Metadata& metadata) {
  TRY_ASSIGN(const auto key, read_name(cursor, "a metadata key"));
  auto value = read_value(cursor);
  if (!value) return make_error(value.error().code, "metadata key '{}': {}", key, value.error().message);
  if (metadata.add(std::string(key), std::move(*value))) return {};
  return make_error(ErrorCode::kCorrupt, "metadata key '{}' stands twice", key);
}

}  // namespace

Result<std::string_view> read_name(ByteCursor& cursor, const char* what) {
  const uint64_t start = cursor.offset();
  TRY_ASSIGN(const auto name, cursor.read_string(what));
  if (name.empty() || name.size() > kMaxNameBytes) {
    return make_error(ErrorCode::kCorrupt, "at byte {}: {}: expected 1 to {} bytes, found {}", start, what,
                      kMaxNameBytes, name.size());
  }
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
  const auto odd = std::find_if_not(name.begin(), name.end(), printable);
  if (odd == name.end()) return name;
  return make_error(ErrorCode::kCorrupt, "at byte {}: {}: expected printable ascii, found byte {:#04x}", start, what,
                    static_cast<unsigned char>(*odd));
}

Result<GgufHeader> read_header(ByteCursor& cursor) {
  TRY(cursor.take(4, "the magic"));
  GgufHeader header;
  TRY_ASSIGN(header.version, read_version(cursor));
  TRY_ASSIGN(header.n_tensors, cursor.read<uint64_t>("the tensor count"));
  TRY_ASSIGN(const auto n_pairs, cursor.read<uint64_t>("the metadata count"));
  TRY(cursor.expect_room(n_pairs, kMinPairBytes, "metadata pairs"));
  if (n_pairs > kMaxPairs) {
    return make_error(ErrorCode::kUnsupported, "metadata pairs: expected at most {}, found {}", kMaxPairs, n_pairs);
  }
  for (uint64_t i = 0; i < n_pairs; ++i) TRY(read_pair(cursor, header.metadata));
  return header;
}

}  // namespace ferrox
