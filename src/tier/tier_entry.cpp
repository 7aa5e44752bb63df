#include "tier/tier_entry.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/checked_math.h"

namespace ferrox {
namespace {

constexpr int32_t kMaxPageRows = 65'536;
/// Keeps sums of sizes far from 64 bits; no machine has as much.
constexpr uint64_t kMaxEntryBytes = uint64_t{1} << 48;

/// What a block of n bytes takes of the heap at most: a header and rounding to 16, or to whole pages where it is
/// mapped.
constexpr uint64_t heap_bytes(uint64_t n) {
  constexpr uint64_t kMappedFrom = 128 << 10;
  return n == 0 ? 0 : n + (n < kMappedFrom ? 24 : 4096 + 24);
}

/// Counts of a shared pointer, which lie beside the entry.
constexpr uint64_t kSharedBytes = 16;

template <class Part>
PartMask mask_of_parts(std::span<const Part> parts) {
  PartMask mask = 0;
  for (const Part& part : parts) mask |= PartMask{1} << part.part;
  return mask;
}

std::byte* copy_pieces(const PartSource& source, std::byte* to, std::byte* end) {
  for (const auto piece : source.pieces) {
    CHECK(piece.size() <= static_cast<size_t>(end - to), "a part has no more bytes than the layout says");
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
  return to;
}

}  // namespace

Result<void> validate_tier_layout(const TierLayout& layout) {
  if (layout.page_rows < 1 || layout.page_rows > kMaxPageRows) {
    return make_error(ErrorCode::kInvalidArgument, "prefix tiers: expected pages of 1 to {} rows, found {}",
                      kMaxPageRows, layout.page_rows);
  }
  if (layout.part_bytes.empty() || layout.part_bytes.size() > kMaxParts) {
    return make_error(ErrorCode::kUnsupported, "prefix tiers: expected 1 to {} parts, found {}", kMaxParts,
                      layout.part_bytes.size());
  }
  uint64_t sum = 0;
  for (const uint64_t bytes : layout.part_bytes) {
    if (bytes == 0)
      return make_error(ErrorCode::kInvalidArgument, "prefix tiers: expected bytes in each part, found 0");
    sum = saturating_add(sum, bytes);
  }
  if (sum > kMaxEntryBytes) {
    return make_error(ErrorCode::kUnsupported, "prefix tiers: expected parts of at most {} bytes together, found {}",
                      kMaxEntryBytes, sum);
  }
  return {};
}

uint64_t bytes_of_parts(const TierLayout& layout, PartMask mask) {
  uint64_t sum = 0;
  for (; mask != 0; mask &= mask - 1) sum += layout.part_bytes[static_cast<size_t>(std::countr_zero(mask))];
  return sum;
}

bool has_more_parts(PartMask given, PartMask held) { return std::popcount(given) > std::popcount(held); }

PartMask mask_of(std::span<const PartSource> parts) { return mask_of_parts(parts); }
PartMask mask_of(std::span<const PartTarget> parts) { return mask_of_parts(parts); }

TierEntry::TierEntry(const TierLayout& layout, const EntryName& name, std::span<const PartSource> parts)
    : kind_(name.kind),
      key_(name.key),
      parent_(name.parent),
      tokens_(name.tokens.begin(), name.tokens.end()),
      n_before_(name.n_before) {
  int last = -1;
  for (const PartSource& source : parts) {
    CHECK(source.part > last && source.part < layout.n_parts(), "parts ascend and are the layout's");
    last = source.part;
  }
  parts_ = mask_of(parts);
  size_bytes_ = bytes_of_parts(layout, parts_);
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_bytes_);
  std::byte* to = bytes_.get();
  for (const PartSource& source : parts) {
    std::byte* const end = to + layout.part_bytes[static_cast<size_t>(source.part)];
    to = copy_pieces(source, to, end);
    CHECK(to == end, "a part has the bytes that the layout says");
  }
}

uint64_t TierEntry::memory_bytes(const TierLayout& layout, size_t n_tokens, PartMask parts) {
  return heap_bytes(sizeof(TierEntry) + kSharedBytes) + heap_bytes(n_tokens * sizeof(int32_t)) +
         heap_bytes(bytes_of_parts(layout, parts));
}

uint64_t TierEntry::memory_bytes() const {
  return heap_bytes(sizeof(TierEntry) + kSharedBytes) + heap_bytes(tokens_.size() * sizeof(int32_t)) +
         heap_bytes(size_bytes_);
}

std::span<const std::byte> TierEntry::part(const TierLayout& layout, int part) const {
  CHECK((parts_ >> part & 1) != 0, "an entry has the part that is asked of it");
  const PartMask before = parts_ & ((PartMask{1} << part) - 1);
  return bytes().subspan(bytes_of_parts(layout, before), layout.part_bytes[static_cast<size_t>(part)]);
}

}  // namespace ferrox
