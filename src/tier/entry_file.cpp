#include "tier/entry_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/check.h"
#include "tier/file_io.h"

namespace ferrox {
namespace {

constexpr std::string_view kPageSuffix = ".page1";
constexpr std::string_view kStateSuffix = ".state1";
constexpr size_t kHexKey = 64;
constexpr uint64_t kMaxForeignHeader = uint64_t{1} << 20;  // more than any layout's

struct EntryFields {
  PageKey key;
  PageKey parent;
  uint32_t kind;
  uint32_t parts;
  uint32_t n_tokens;
  uint32_t zero;
};
static_assert(sizeof(EntryFields) == 80 && std::has_unique_object_representations_v<EntryFields>);

uint64_t entry_header_bytes(int n_parts, uint64_t n_tokens, PartMask parts) {
  return common_header_bytes(n_parts) + sizeof(EntryFields) + n_tokens * sizeof(int32_t) +
         static_cast<uint64_t>(std::popcount(parts)) * sizeof(Checksum);
}

Error corrupt(const char* what) { return make_error(ErrorCode::kCorrupt, "{}", what); }

bool fits_layout(const EntryFileName& name, const TierLayout& layout) {
  const auto page_rows = static_cast<uint32_t>(layout.page_rows);
  const bool tokens_fit = name.kind == EntryKind::kPage ? name.n_tokens == page_rows : name.n_tokens < page_rows;
  const auto all_parts = static_cast<PartMask>((uint64_t{1} << layout.n_parts()) - 1);
  return tokens_fit && name.parts != 0 && (name.parts & ~all_parts) == 0;
}

PageKey key_of(EntryKind kind, const PageKey& parent, std::span<const int32_t> tokens) {
  return kind == EntryKind::kPage ? next_key(parent, tokens) : state_key(parent, tokens);
}

template <class Number>
bool parse_number(std::string_view text, Number& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

/// The mask's and the number's digits between the keys and the suffix: "3-32".
bool parse_counts(std::string_view text, EntryFileName& name) {
  const size_t dash = text.find('-');
  return dash != std::string_view::npos && parse_number(text.substr(0, dash), name.parts, 16) &&
         parse_number(text.substr(dash + 1), name.n_tokens, 10);
}

Result<void> read_part(int fd, uint64_t offset, const PartTarget& target, const Checksum& expected) {
  TRY(read_pieces(fd, offset, target.pieces));
  ChecksumStream sum;
  for (const auto piece : target.pieces) sum.add(piece);
  if (sum.take() != expected) return make_error(ErrorCode::kCorrupt, "part {}: its checksum is wrong", target.part);
  return {};
}

/// The bytes of the header: as many as this layout has, or as another one says, which is then refused by name.
Result<std::vector<std::byte>> read_header_bytes(int fd, uint64_t header_bytes, uint64_t file_bytes) {
  std::vector<std::byte> bytes(std::min(file_bytes, header_bytes));
  TRY(read_bytes(fd, 0, bytes));
  if (bytes.size() < kHeaderPrefixBytes) return bytes;
  const uint64_t announced = announced_header_bytes(bytes);
  if (announced == bytes.size() || announced > std::min(file_bytes, kMaxForeignHeader)) return bytes;
  bytes.resize(announced);
  TRY(read_bytes(fd, 0, bytes));
  return bytes;
}

/// The header of a file of `file_bytes`, with all that its name promises.
Result<EntryHeader> expect_name(std::span<const std::byte> bytes, const TierLayout& layout, const EntryFileName& name,
                                uint64_t file_bytes) {
  TRY_ASSIGN(auto header, parse_entry_header(bytes, layout));
  if (header.name != name) return corrupt("the header isn't what the file's name says");
  const uint64_t expected_bytes = entry_file_bytes(layout, name.n_tokens, name.parts);
  if (file_bytes != expected_bytes) {
    return make_error(ErrorCode::kCorrupt, "expected {} bytes, found {}", expected_bytes, file_bytes);
  }
  return header;
}

}  // namespace

EntryFileName file_name_of(const TierEntry& entry) {
  const EntryName name = entry.name();
  return {.kind = name.kind,
          .key = name.key,
          .parent = name.parent,
          .parts = entry.parts(),
          .n_tokens = static_cast<uint32_t>(name.tokens.size())};
}

std::string to_text(const EntryFileName& name) {
  return fmt::format("{}-{}-{:x}-{}{}", to_hex(name.key), to_hex(name.parent), name.parts, name.n_tokens,
                     name.kind == EntryKind::kPage ? kPageSuffix : kStateSuffix);
}

std::optional<EntryFileName> parse_entry_file_name(std::string_view text) {
  const bool is_page = text.ends_with(kPageSuffix);
  if (!is_page && !text.ends_with(kStateSuffix)) return std::nullopt;
  if (text.size() < 2 * kHexKey + 2) return std::nullopt;
  const auto key = parse_page_key(text.substr(0, kHexKey));
  const auto parent = parse_page_key(text.substr(kHexKey + 1, kHexKey));
  if (!key || !parent) return std::nullopt;
  EntryFileName name{.kind = is_page ? EntryKind::kPage : EntryKind::kState,
                     .key = *key,
                     .parent = *parent,
                     .parts = 0,
                     .n_tokens = 0};
  const size_t suffix = (is_page ? kPageSuffix : kStateSuffix).size();
  const std::string_view rest = text.substr(2 * kHexKey + 1);
  if (rest.size() < suffix + 1 || !parse_counts(rest.substr(1, rest.size() - suffix - 1), name)) return std::nullopt;
  if (to_text(name) != text) return std::nullopt;  // one spelling each: dashes, no leading zeros, lower case
  return name;
}

uint64_t entry_file_bytes(const TierLayout& layout, size_t n_tokens, PartMask parts) {
  return entry_header_bytes(layout.n_parts(), n_tokens, parts) + bytes_of_parts(layout, parts);
}

std::vector<std::byte> encode_entry_header(const TierLayout& layout, const TierEntry& entry) {
  const EntryName name = entry.name();
  HeaderWriter out(kEntryMagic, layout, entry_header_bytes(layout.n_parts(), name.tokens.size(), entry.parts()));
  out.add(EntryFields{.key = name.key,
                      .parent = name.parent,
                      .kind = static_cast<uint32_t>(name.kind),
                      .parts = entry.parts(),
                      .n_tokens = static_cast<uint32_t>(name.tokens.size()),
                      .zero = 0});
  out.add_all(name.tokens);
  for (int part = 0; part < layout.n_parts(); ++part) {
    if ((entry.parts() >> part & 1) != 0) out.add(checksum_of(entry.part(layout, part)));
  }
  return out.finish();
}

Result<EntryHeader> parse_entry_header(std::span<const std::byte> bytes, const TierLayout& layout) {
  TRY_ASSIGN(auto in, HeaderReader::open(bytes, kEntryMagic));
  TRY(expect_layout(in.layout(), layout));
  const auto fields = in.take<EntryFields>();
  EntryHeader header{.name = {.kind = static_cast<EntryKind>(fields.kind),
                              .key = fields.key,
                              .parent = fields.parent,
                              .parts = fields.parts,
                              .n_tokens = fields.n_tokens},
                     .tokens = in.take_all<int32_t>(fields.n_tokens),
                     .checksums = in.take_all<Checksum>(static_cast<uint64_t>(std::popcount(fields.parts)))};
  if (!in.is_exact() || fields.zero != 0) return corrupt("header: its fields don't have its size");
  if (fields.kind != static_cast<uint32_t>(EntryKind::kPage) &&
      fields.kind != static_cast<uint32_t>(EntryKind::kState)) {
    return make_error(ErrorCode::kCorrupt, "header: expected kind 1 or 2, found {}", fields.kind);
  }
  if (!fits_layout(header.name, layout)) return corrupt("header: its tokens or parts aren't the layout's");
  if (key_of(header.name.kind, header.name.parent, header.tokens) != header.name.key) {
    return corrupt("header: its key isn't that of its tokens");
  }
  return header;
}

Result<void> read_entry_file(int fd, const TierLayout& layout, const EntryFileName& name,
                             std::span<const PartTarget> targets) {
  if (!fits_layout(name, layout)) return make_error(ErrorCode::kUnsupported, "its name is one of another layout");
  TRY_ASSIGN(const uint64_t file_bytes, regular_file_bytes(fd));
  const uint64_t header_bytes = entry_header_bytes(layout.n_parts(), name.n_tokens, name.parts);
  TRY_ASSIGN(const auto bytes, read_header_bytes(fd, header_bytes, file_bytes));
  TRY_ASSIGN(const auto header, expect_name(bytes, layout, name, file_bytes));
  for (const PartTarget& target : targets) {
    CHECK((name.parts >> target.part & 1) != 0, "parts are asked of files that have them");
    const PartMask before = name.parts & ((PartMask{1} << target.part) - 1);
    const auto& sum = header.checksums[static_cast<size_t>(std::popcount(before))];
    TRY(read_part(fd, header_bytes + bytes_of_parts(layout, before), target, sum));
  }
  return {};
}

NameProof prove_name(int fd, const TierLayout& layout, const EntryFileName& name) {
  const auto proven = [&]() -> Result<NameProof> {
    TRY_ASSIGN(const uint64_t file_bytes, regular_file_bytes(fd));
    TRY_ASSIGN(const auto bytes, read_header_bytes(fd, kHeaderPrefixBytes, file_bytes));
    TRY_ASSIGN(const auto common, HeaderReader::open(bytes, kEntryMagic));
    TRY(expect_name(bytes, common.layout(), name, file_bytes));
    return common.layout() == layout ? NameProof::kThisModel : NameProof::kOtherModel;
  }();
  return proven ? *proven : NameProof::kNone;
}

bool is_entry_file(int fd) { return is_file_of(fd, kEntryMagic); }

}  // namespace ferrox
