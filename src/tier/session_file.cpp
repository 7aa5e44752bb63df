#include "tier/session_file.h"

#include <algorithm>
#include <array>
#include <random>

#include "base/hex.h"
#include "tier/file_io.h"

namespace ferrox {
namespace {

constexpr std::string_view kSuffix = ".session1";
/// Ten million tokens and their parts take less; a file that says more would only take memory.
constexpr uint64_t kMaxHeaderBytes = uint64_t{64} << 20;  // ten million tokens, and the parts of their pages

struct SessionFields {
  SessionId id;
  uint64_t n_tokens;
  uint64_t n_rows;
  uint64_t n_parts;
  int64_t saved_at_s;
};
static_assert(sizeof(SessionFields) == 48 && std::has_unique_object_representations_v<SessionFields>);

/// Pages that the tokens reach into, and the parts of the layout; each once, in order.
bool are_parts_valid(const SessionHeader& header) {
  const auto n_pages = static_cast<int64_t>(header.tokens.size()) / header.layout.page_rows + 1;
  const SessionPart* last = nullptr;
  for (const SessionPart& part : header.parts) {
    if (part.page < 0 || part.page >= n_pages || part.part < 0 || part.part >= header.layout.n_parts()) return false;
    if (last != nullptr && !(*last < part)) return false;
    last = &part;
  }
  return true;
}

}  // namespace

SessionId new_session_id() {
  static thread_local std::random_device source;  // the system's generator, not a seeded one
  SessionId id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(source());
  return id;
}

std::string to_hex(const SessionId& id) { return hex_of(id.bytes); }

Result<SessionId> parse_session_id(std::string_view hex) {
  const auto bytes = parse_hex<16>(hex);
  if (bytes) return SessionId{*bytes};
  return make_error(ErrorCode::kInvalidArgument, "session id: expected 32 digits 0-9 a-f, found '{}'{}",
                    hex.substr(0, 64), hex.size() > 64 ? "..." : "");
}

std::string session_file_name(const SessionId& id) { return to_hex(id) + std::string(kSuffix); }

std::optional<SessionId> parse_session_file_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  const auto bytes = parse_hex<16>(name.substr(0, name.size() - kSuffix.size()));
  if (!bytes) return std::nullopt;
  return SessionId{*bytes};
}

uint64_t session_header_bytes(int n_layout_parts, uint64_t n_tokens, uint64_t n_parts) {
  return common_header_bytes(n_layout_parts) + sizeof(SessionFields) + n_tokens * sizeof(int32_t) +
         n_parts * (sizeof(SessionPart) + sizeof(Checksum));
}

std::vector<std::byte> encode_session_header(const SessionHeader& header) {
  HeaderWriter out(kSessionMagic, header.layout,
                   session_header_bytes(header.layout.n_parts(), header.tokens.size(), header.parts.size()));
  out.add(SessionFields{.id = header.id,
                        .n_tokens = header.tokens.size(),
                        .n_rows = static_cast<uint64_t>(header.n_rows),
                        .n_parts = header.parts.size(),
                        .saved_at_s = header.saved_at_s});
  out.add_all(std::span<const int32_t>(header.tokens));
  out.add_all(std::span<const SessionPart>(header.parts));
  out.add_all(std::span<const Checksum>(header.checksums));
  return out.finish();
}

Result<SessionHeader> parse_session_header(std::span<const std::byte> bytes) {
  TRY_ASSIGN(auto in, HeaderReader::open(bytes, kSessionMagic));
  const auto fields = in.take<SessionFields>();
  SessionHeader header{.layout = in.layout(),
                       .id = fields.id,
                       .n_rows = static_cast<int64_t>(fields.n_rows),
                       .saved_at_s = fields.saved_at_s,
                       .tokens = in.take_all<int32_t>(fields.n_tokens),
                       .parts = in.take_all<SessionPart>(fields.n_parts),
                       .checksums = in.take_all<Checksum>(fields.n_parts)};
  if (!in.is_exact()) return make_error(ErrorCode::kCorrupt, "header: its fields don't have its size");
  if (fields.n_rows > fields.n_tokens) {
    return make_error(ErrorCode::kCorrupt, "header: expected rows of at most {} tokens, found {}", fields.n_tokens,
                      fields.n_rows);
  }
  if (!are_parts_valid(header)) return make_error(ErrorCode::kCorrupt, "header: its parts aren't those of its tokens");
  return header;
}

Result<SessionHeader> read_session_header(int fd) {
  TRY_ASSIGN(const uint64_t file_bytes, regular_file_bytes(fd));
  std::vector<std::byte> bytes(std::min(file_bytes, kHeaderPrefixBytes));
  TRY(read_bytes(fd, 0, bytes));
  if (bytes.size() == kHeaderPrefixBytes && has_magic(bytes, kSessionMagic)) {
    const uint64_t header_bytes = announced_header_bytes(bytes);
    if (header_bytes > std::min(file_bytes, kMaxHeaderBytes)) {
      return make_error(ErrorCode::kCorrupt, "header: expected at most {} bytes, found {}",
                        std::min(file_bytes, kMaxHeaderBytes), header_bytes);
    }
    bytes.resize(header_bytes);
    TRY(read_bytes(fd, 0, bytes));
  }
  TRY_ASSIGN(auto header, parse_session_header(bytes));
  uint64_t expected_bytes = bytes.size();
  for (const SessionPart& part : header.parts)
    expected_bytes += header.layout.part_bytes[static_cast<size_t>(part.part)];
  if (expected_bytes == file_bytes) return header;
  return make_error(ErrorCode::kCorrupt, "expected {} bytes, found {}", expected_bytes, file_bytes);
}

}  // namespace ferrox
