// What do all files of the tiers begin with, and how is it trusted? Magic, version, sizes, model, layout; a checksum.
//
//   byte  0   magic                          8 bytes, says which kind of file
//         8   version                        u32
//        12   n_parts                        u32
//        16   header bytes                   u64, up to and with the header's checksum
//        24   model identity                 32 bytes
//        56   page_rows                      u32
//        60   zero                           u32
//        64   bytes of each part             u64 each
//             ... the file's own fields
//    end-16   XXH3-128 of all above          16 bytes
//
// Numbers are little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "tier/checksum.h"
#include "tier/tier_entry.h"

namespace ferrox {

static_assert(std::endian::native == std::endian::little, "headers are written as numbers lie in memory");

inline constexpr uint32_t kTierFileVersion = 1;
inline constexpr uint64_t kHeaderPrefixBytes = 64;  ///< up to the bytes of each part
inline constexpr uint64_t kChecksumBytes = 16;

/// Makes a header field by field.
class HeaderWriter {
 public:
  /// `magic` has 8 characters; header_bytes is what the finished header will have.
  HeaderWriter(std::string_view magic, const TierLayout& layout, uint64_t header_bytes);

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(const T& value) { add_bytes(std::as_bytes(std::span(&value, 1))); }

  template <class T>
  void add_all(std::span<const T> values) {
    add_bytes(std::as_bytes(values));
  }

  /// The header with its checksum. CHECKs the size that was announced.
  std::vector<std::byte> finish();

 private:
  void add_bytes(std::span<const std::byte> bytes);

  uint64_t header_bytes_;
  std::vector<std::byte> bytes_;
};

/// Reads the fields of a header whose checksum is right. What lies beyond its end reads as zeros, and is told at last.
class HeaderReader {
 public:
  /// Errors: another magic (kUnsupported: not such a file), another version, a size or checksum that is wrong
  /// (kCorrupt). `bytes` is the whole header.
  static Result<HeaderReader> open(std::span<const std::byte> bytes, std::string_view magic);

  /// The layout that the file was written for.
  const TierLayout& layout() const { return layout_; }

  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value{};
    if (const auto bytes = take_bytes(sizeof value)) std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }

  /// n values, or none when there are fewer.
  template <class T>
  std::vector<T> take_all(uint64_t n) {
    if (n > left() / sizeof(T)) {
      is_short_ = true;
      return {};
    }
    std::vector<T> values(n);
    if (const auto bytes = take_bytes(n * sizeof(T)); n > 0) std::memcpy(values.data(), bytes->data(), bytes->size());
    return values;
  }

  uint64_t left() const { return bytes_.size() - offset_; }

  /// Whether all fields were there, and nothing else.
  bool is_exact() const { return !is_short_ && left() == 0; }

 private:
  explicit HeaderReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::optional<std::span<const std::byte>> take_bytes(uint64_t n);

  std::span<const std::byte> bytes_;  ///< without the checksum
  uint64_t offset_ = 0;
  bool is_short_ = false;
  TierLayout layout_;
};

/// Errors: another model or layout than expected (kUnsupported): a good file, though of no use.
Result<void> expect_layout(const TierLayout& found, const TierLayout& expected);

/// Whether a file that begins with these bytes is of this kind at all.
bool has_magic(std::span<const std::byte> bytes, std::string_view magic);

/// Whether a file under a name of ours is one of this kind, whole or not, and so may be removed: it begins with the
/// magic, or ends within it, or is zeros there. The latter two are what a power cut leaves.
bool is_file_of(int fd, std::string_view magic);

/// header_bytes of a header's first kHeaderPrefixBytes.
uint64_t announced_header_bytes(std::span<const std::byte> prefix);

/// The bytes of prefix, layout and checksum.
uint64_t common_header_bytes(int n_parts);

}  // namespace ferrox
