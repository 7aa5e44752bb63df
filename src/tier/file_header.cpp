#include "tier/file_header.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "tier/file_io.h"

namespace ferrox {
namespace {

struct Prefix {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t n_parts;
  uint64_t header_bytes;
  PageKey model;
  uint32_t page_rows;
  uint32_t zero;
};
static_assert(sizeof(Prefix) == kHeaderPrefixBytes && std::has_unique_object_representations_v<Prefix>);

Error corrupt(std::string_view what, uint64_t expected, uint64_t found) {
  return make_error(ErrorCode::kCorrupt, "header: {}: expected {}, found {}", what, expected, found);
}

}  // namespace

HeaderWriter::HeaderWriter(std::string_view magic, const TierLayout& layout, uint64_t header_bytes)
    : header_bytes_(header_bytes) {
  Prefix prefix{.magic = {},
                .version = kTierFileVersion,
                .n_parts = static_cast<uint32_t>(layout.n_parts()),
                .header_bytes = header_bytes,
                .model = layout.model,
                .page_rows = static_cast<uint32_t>(layout.page_rows),
                .zero = 0};
  CHECK(magic.size() == prefix.magic.size(), "a magic has 8 characters");
  std::memcpy(prefix.magic.data(), magic.data(), magic.size());
  bytes_.reserve(header_bytes);
  add(prefix);
  add_all(std::span<const uint64_t>(layout.part_bytes));
}

void HeaderWriter::add_bytes(std::span<const std::byte> bytes) {
  const size_t n = bytes_.size();
  bytes_.resize(n + bytes.size());
  if (!bytes.empty()) std::memcpy(bytes_.data() + n, bytes.data(), bytes.size());
}

std::vector<std::byte> HeaderWriter::finish() {
  add(checksum_of(bytes_));
  CHECK(bytes_.size() == header_bytes_, "a header has the size that it announces");
  return std::move(bytes_);
}

Result<HeaderReader> HeaderReader::open(std::span<const std::byte> bytes, std::string_view magic) {
  if (!has_magic(bytes, magic)) return make_error(ErrorCode::kUnsupported, "expected a file of ferrox, found another");
  if (bytes.size() < kHeaderPrefixBytes + kChecksumBytes) {
    return corrupt("bytes", kHeaderPrefixBytes + kChecksumBytes, bytes.size());
  }
  Prefix prefix;
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  if (prefix.version != kTierFileVersion) return corrupt("version", kTierFileVersion, prefix.version);
  if (prefix.header_bytes != bytes.size()) return corrupt("bytes", bytes.size(), prefix.header_bytes);
  const auto fields = bytes.first(bytes.size() - kChecksumBytes);
  const Checksum sum = checksum_of(fields);
  if (std::memcmp(sum.bytes.data(), bytes.data() + fields.size(), kChecksumBytes) != 0) {
    return make_error(ErrorCode::kCorrupt, "header: its checksum is wrong");
  }
  if (prefix.zero != 0) return corrupt("padding", 0, prefix.zero);
  HeaderReader reader(fields);
  reader.take<Prefix>();
  reader.layout_ = {.model = prefix.model,
                    .page_rows = static_cast<int32_t>(prefix.page_rows),
                    .part_bytes = reader.take_all<uint64_t>(prefix.n_parts)};
  if (const auto valid = validate_tier_layout(reader.layout_); !valid) {
    return make_error(ErrorCode::kCorrupt, "header: {}", valid.error().message);
  }
  return reader;
}

Result<void> expect_layout(const TierLayout& found, const TierLayout& expected) {
  if (found.model != expected.model) {
    return make_error(ErrorCode::kUnsupported, "expected rows of this model ({}...), found another's ({}...)",
                      to_hex(expected.model).substr(0, 16), to_hex(found.model).substr(0, 16));
  }
  if (found.page_rows != expected.page_rows) {
    return make_error(ErrorCode::kUnsupported, "expected pages of {} rows, found {}", expected.page_rows,
                      found.page_rows);
  }
  if (found.n_parts() != expected.n_parts()) {
    return make_error(ErrorCode::kUnsupported, "expected {} parts, found {}", expected.n_parts(), found.n_parts());
  }
  for (size_t i = 0; i < expected.part_bytes.size(); ++i) {
    if (found.part_bytes[i] == expected.part_bytes[i]) continue;
    return make_error(ErrorCode::kUnsupported, "part {}: expected {} bytes, found {}", i, expected.part_bytes[i],
                      found.part_bytes[i]);
  }
  return {};
}

std::optional<std::span<const std::byte>> HeaderReader::take_bytes(uint64_t n) {
  if (n > left()) {
    is_short_ = true;
    return std::nullopt;
  }
  const auto out = bytes_.subspan(offset_, n);
  offset_ += n;
  return out;
}

bool has_magic(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::ranges::equal(bytes.first(magic.size()), std::as_bytes(std::span(magic)));
}

bool is_file_of(int fd, std::string_view magic) {
  const auto file_bytes = regular_file_bytes(fd);
  if (!file_bytes) return false;
  std::vector<std::byte> start(std::min<uint64_t>(*file_bytes, magic.size()));
  if (!read_bytes(fd, 0, start)) return false;
  return has_magic(start, magic.substr(0, start.size())) ||
         std::ranges::all_of(start, [](std::byte byte) { return byte == std::byte{0}; });
}

uint64_t announced_header_bytes(std::span<const std::byte> prefix) {
  CHECK(prefix.size() >= kHeaderPrefixBytes, "a prefix is whole");
  uint64_t bytes;
  std::memcpy(&bytes, prefix.data() + offsetof(Prefix, header_bytes), sizeof bytes);
  return bytes;
}

uint64_t common_header_bytes(int n_parts) {
  return kHeaderPrefixBytes + static_cast<uint64_t>(n_parts) * sizeof(uint64_t) + kChecksumBytes;
}

}  // namespace ferrox
