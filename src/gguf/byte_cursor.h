// How are fields read from bytes that may lie about themselves? In order, each checked against the bytes left.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ferrox {

/// Reads little-endian fields front to back. Errors name the field, its offset, the bytes needed and those left.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t offset() const { return offset_; }
  uint64_t left() const { return bytes_.size() - offset_; }

  /// One number; `what` names it in the error.
  template <class T>
  requires std::integral<T> || std::floating_point<T> Result<T> read(const char* what) {
    TRY_ASSIGN(const auto bytes, take(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  /// The next size_bytes bytes, in place.
  Result<std::span<const std::byte>> take(uint64_t size_bytes, const char* what) {
    if (size_bytes > left()) return too_short(size_bytes, what);
    const auto out = bytes_.subspan(offset_, size_bytes);
    offset_ += size_bytes;
    return out;
  }

  /// A string as GGUF writes it: length as u64, then bytes; in place.
  Result<std::string_view> read_string(const char* what) {
    TRY_ASSIGN(const auto length, read<uint64_t>(what));
    TRY_ASSIGN(const auto bytes, take(length, what));
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  /// Refuses a count of things that take at least min_bytes each when they can't fit in what is left.
  Result<void> expect_room(uint64_t count, uint64_t min_bytes, const char* what) const {
    if (count <= left() / min_bytes) return {};
    return make_error(ErrorCode::kCorrupt, "at byte {}: {} {} need at least {} bytes each, {} bytes are left", offset_,
                      count, what, min_bytes, left());
  }

 private:
  Error too_short(uint64_t size_bytes, const char* what) const {
    return make_error(ErrorCode::kCorrupt, "at byte {}: {} needs {} bytes, {} are left", offset_, what, size_bytes,
                      left());
  }

  std::span<const std::byte> bytes_;
  uint64_t offset_ = 0;
};

}  // namespace ferrox
