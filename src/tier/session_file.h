// How does a conversation lie on disk? Its tokens and the parts of its pages, in one file that proves itself.
//
//   name: 32 hexadecimal digits of the id, then .session1
//
//   header   common prefix and layout (file_header.h)
//            id                                   16 bytes
//            n_tokens, n_rows, n_parts saved      u64 each
//            saved at, seconds since 1970         i64
//            tokens                               i32 each
//            page, part                           i32 each, ascending
//            XXH3-128 of each part saved
//            XXH3-128 of the header
//   parts    in that order, each of the layout's bytes; then the file ends
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tier/file_header.h"
#include "tier/session_store.h"

namespace ferrox {

inline constexpr std::string_view kSessionMagic = "FXSESSN1";

struct SessionHeader {
  TierLayout layout;
  SessionId id;
  int64_t n_rows;
  int64_t saved_at_s;
  std::vector<int32_t> tokens;
  std::vector<SessionPart> parts;
  std::vector<Checksum> checksums;  ///< of each part
};

std::string session_file_name(const SessionId& id);
std::optional<SessionId> parse_session_file_name(std::string_view name);

uint64_t session_header_bytes(int n_layout_parts, uint64_t n_tokens, uint64_t n_parts);
std::vector<std::byte> encode_session_header(const SessionHeader& header);

/// A header that agrees with itself, of any model. Errors: kUnsupported for a file that isn't of this kind, kCorrupt
/// for all else.
Result<SessionHeader> parse_session_header(std::span<const std::byte> bytes);

/// The header of an open file, whose size is what it says. Errors: as above, kIo.
Result<SessionHeader> read_session_header(int fd);

}  // namespace ferrox
