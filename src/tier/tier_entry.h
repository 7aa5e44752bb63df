// What is kept under one key? The bytes of a page (or of a state), in parts, and the tokens that they are rows of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "tier/page_key.h"

namespace ferrox {

/// Bit i: part i is there. A page whose window rows are gone (a tombstone) lacks that kind's part.
using PartMask = uint32_t;
inline constexpr int kMaxParts = 32;

/// What all entries of one model look like.
struct TierLayout {
  PageKey model;                     ///< identity of all that rows depend on: weights, element types, page size
  int32_t page_rows = 0;             ///< tokens of one page
  std::vector<uint64_t> part_bytes;  ///< part i: a page of attention kind i; a last one where there are states

  int n_parts() const { return static_cast<int>(part_bytes.size()); }
  friend bool operator==(const TierLayout&, const TierLayout&) = default;
};

/// Refuses by name: no rows or more than 65,536, no parts or more than kMaxParts, a part without bytes, bytes that add
/// up to more than 2^48.
Result<void> validate_tier_layout(const TierLayout& layout);

/// Bytes of the parts in a mask. Every bit is a part of the layout.
uint64_t bytes_of_parts(const TierLayout& layout, PartMask mask);

enum class EntryKind : uint8_t {
  kPage = 1,   ///< page_rows tokens past the parent's page; key: next_key
  kState = 2,  ///< fewer than page_rows tokens past it, none as well; key: state_key
};

/// What an entry says about itself.
struct EntryName {
  EntryKind kind = EntryKind::kPage;
  PageKey key;
  PageKey parent;
  std::span<const int32_t> tokens;  ///< past the parent's page
  int64_t n_before = 0;             ///< tokens up to the end of the parent's page; 0: the parent is the root
};

/// Where one part lies now: pieces in order, together the layout's bytes of that part (K and V of each layer, say).
struct PartSource {
  int part;
  std::span<const std::span<const std::byte>> pieces;
};

/// Where one part shall lie: pieces in order, together the layout's bytes of that part.
struct PartTarget {
  int part;
  std::span<const std::span<std::byte>> pieces;
};

/// A copy of an entry in memory. It doesn't change, so tiers and threads share it.
class TierEntry {
 public:
  /// Copies. CHECKs that parts ascend, are the layout's, and have its sizes. Throws std::bad_alloc.
  TierEntry(const TierLayout& layout, const EntryName& name, std::span<const PartSource> parts);

  /// What one with these tokens and parts takes, itself included: known before it is made.
  static uint64_t memory_bytes(const TierLayout& layout, size_t n_tokens, PartMask parts);

  EntryName name() const { return {kind_, key_, parent_, tokens_, n_before_}; }
  PartMask parts() const { return parts_; }
  std::span<const std::byte> part(const TierLayout& layout, int part) const;
  std::span<const std::byte> bytes() const { return {bytes_.get(), size_bytes_}; }  ///< of all parts, ascending
  uint64_t memory_bytes() const;

 private:
  EntryKind kind_;
  PartMask parts_ = 0;
  PageKey key_;
  PageKey parent_;
  std::vector<int32_t> tokens_;
  int64_t n_before_;
  uint64_t size_bytes_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

/// A state that was found: `n_tokens` of the prompt lie before it.
struct StateMatch {
  PageKey key;
  int64_t n_tokens;
};

/// Whether an entry with the parts `given` is worth keeping in place of one with the parts `held` (0: none).
bool has_more_parts(PartMask given, PartMask held);

/// The mask of a list of parts.
PartMask mask_of(std::span<const PartSource> parts);
PartMask mask_of(std::span<const PartTarget> parts);

}  // namespace ferrox
