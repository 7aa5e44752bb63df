// Which entries are kept in host memory? As many as a budget holds, counted to the byte before anything is allocated.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tier/tier_entry.h"
#include "tier/tier_index.h"
#include "tier/tier_stats.h"

namespace ferrox {

/// Safe from any thread. Its bytes are those of entries, of their places in the books, and of the books' tables.
class HostTier {
 public:
  HostTier(const TierLayout& layout, uint64_t budget_bytes, double half_life_s);
  ~HostTier();

  /// The parts held under a key; 0: none.
  PartMask parts_of(const PageKey& key) const;

  /// Makes room for an entry that is about to be allocated, by letting less valuable ones go. False when it is held
  /// already or doesn't fit: nothing is reserved then. An entry under the same key with fewer parts goes.
  bool reserve(const EntryName& name, PartMask parts);

  /// The entry that room was reserved for; nullptr: it wasn't made after all.
  void commit(const EntryName& name, PartMask parts, std::shared_ptr<const TierEntry> entry, double now_s);

  /// The entry itself, to be read without a lock.
  std::shared_ptr<const TierEntry> get(const PageKey& key) const;

  /// Counts a use of a key, whether it is held or not.
  PartMask use(const PageKey& key, double now_s);

  /// As TierIndex::longest_state.
  std::optional<StateMatch> longest_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                          int64_t max_tokens) const;

  void count_load(uint64_t size_bytes);

  /// Lets every entry go.
  void clear();
  TierStats stats() const;

  /// CHECKs the books and the sum of bytes.
  void check_integrity() const;

 private:
  struct Held;
  uint64_t cost(size_t n_tokens, PartMask parts) const;
  uint64_t used_bytes() const { return bytes_ + index_.table_bytes(); }
  bool fits(uint64_t size_bytes) const;
  void drop(IndexEntry& entry);

  const TierLayout layout_;
  const uint64_t budget_bytes_;
  mutable std::mutex mutex_;
  TierIndex index_;
  uint64_t bytes_ = 0;  ///< of entries and reservations
  TierStats counts_;
};

}  // namespace ferrox
