// How does an entry lie on disk? One file that proves itself, under a name that says what an index needs.
//
//   name: KEY-PARENT-PARTS-TOKENS.page1 (or .state1): two keys of 64 digits, the mask in hexadecimal, the number of
//   tokens
//
//   header   common prefix and layout (file_header.h)
//            key, parent          32 bytes each
//            kind, parts present, n_tokens, zero    u32 each
//            tokens               i32 each
//            XXH3-128 of each part that is present
//            XXH3-128 of the header
//   parts    those present, ascending, each of the layout's bytes; then the file ends
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tier/file_header.h"
#include "tier/tier_entry.h"

namespace ferrox {

inline constexpr std::string_view kEntryMagic = "FXKVPAGE";

/// What a file's name says.
struct EntryFileName {
  EntryKind kind;
  PageKey key;
  PageKey parent;
  PartMask parts;
  uint32_t n_tokens;
  friend bool operator==(const EntryFileName&, const EntryFileName&) = default;
};

EntryFileName file_name_of(const TierEntry& entry);
std::string to_text(const EntryFileName& name);

/// Exactly what to_text writes, or nothing.
std::optional<EntryFileName> parse_entry_file_name(std::string_view text);

/// Bytes of the whole file.
uint64_t entry_file_bytes(const TierLayout& layout, size_t n_tokens, PartMask parts);

/// The file's header; the entry's bytes follow it.
std::vector<std::byte> encode_entry_header(const TierLayout& layout, const TierEntry& entry);

struct EntryHeader {
  EntryFileName name;
  std::vector<int32_t> tokens;
  std::vector<Checksum> checksums;  ///< of each part present, ascending
};

/// A header that agrees with itself and the layout, its key with its tokens. Errors: kUnsupported for a file that isn't
/// of this kind, or of another model or layout; kCorrupt for all else.
Result<EntryHeader> parse_entry_header(std::span<const std::byte> bytes, const TierLayout& layout);

/// Reads parts of the file that `name` promises straight into memory, and checks all of the header and of what was
/// read. Errors: as parse_entry_header; a size, name or part that isn't what it should be (kCorrupt); kIo.
Result<void> read_entry_file(int fd, const TierLayout& layout, const EntryFileName& name,
                             std::span<const PartTarget> targets);

/// How far does a file bear out its name, which anybody can give it? Its rows are another question, of read_entry_file.
enum class NameProof {
  kNone,
  kOtherModel,  ///< its header says what the name says, for another model or layout
  kThisModel,
};
NameProof prove_name(int fd, const TierLayout& layout, const EntryFileName& name);

/// As is_file_of.
bool is_entry_file(int fd);

}  // namespace ferrox
