// How do cached prefixes outlive the store? What the tree keeps is copied to the tiers, and what only they have comes
// back before a request that wants it is admitted.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "kv/prefix_import.h"
#include "tier/prefix_tiers.h"

namespace ferrox {

/// What the tiers call a part of this store: part i is a page of attention kind i, the last one a state.
TierLayout tier_layout(const KvTerms& terms, const PageKey& model);

/// One thread's, the engine's. Both ways go in slices, so that requests that run needn't wait long.
class PrefixArchive {
 public:
  /// `cache` must outlive this. The tiers' layout is tier_layout of its terms. slice_bytes: about what is copied
  /// between two steps.
  PrefixArchive(PrefixCache& cache, std::unique_ptr<PrefixTiers> tiers, uint64_t slice_bytes = kSliceBytes);

  /// `progress` is called as copies get on, and while a disk is waited for.
  void on_progress(std::function<void()> progress) { progress_ = std::move(progress); }

  /// Copies of what the tree keeps of `tokens` shall be made. Of many that wait, those that wait longest are forgotten.
  void keep(std::string_view space, std::span<const int32_t> tokens);
  bool has_work() const;

  /// All copies, those of prompts that wait as well.
  void forget();

  /// Makes copies: one slice. Call when has_work().
  void work();

  /// How long the end of a process waits for a disk.
  static constexpr std::chrono::seconds kFinishLimit{10};

  /// Makes all copies and waits until they are written. What isn't by then is dropped, with a line in the log.
  void finish(std::chrono::seconds limit = kFinishLimit);

  /// Makes all copies, which then are written by and by. Those that find no room within `limit` wait on.
  void copy_all(std::chrono::seconds limit);

  enum class Restored {
    kAll,   ///< nothing is left to bring back
    kPart,  ///< more of it is there
    kLost,  ///< some of it couldn't be read, and is forgotten; what comes before may still be there
  };
  /// Brings a slice of what the tiers know of a prompt and the tree doesn't.
  Restored restore(std::string_view space, std::span<const int32_t> prompt, ThreadPool& threads);

  PrefixTiers& tiers() { return *tiers_; }
  PrefixTierStats stats() const { return tiers_->stats(); }

 private:
  static constexpr uint64_t kSliceBytes = uint64_t{32} << 20;  // a few hundredths of a second

  struct Waiting {
    std::string space;
    std::vector<int32_t> tokens;
    std::vector<PageKey> keys;  ///< the root's, and those of the pages that were copied
  };

  void copy_until(PrefixTiers::TimePoint deadline);
  PageKey root_of(std::string_view space) const;
  std::span<const int32_t> page_of(std::span<const int32_t> tokens, int64_t i) const;
  std::vector<PageKey> keys_of(std::string_view space, std::span<const int32_t> tokens) const;
  bool copy_page(Waiting& prefix, const KeptPrefix& kept, uint64_t& n_bytes);
  bool copy_state(const Waiting& prefix, const KeptPrefix& kept, const StateSnapshot& state, uint64_t& n_bytes);
  bool put(const EntryName& name, std::span<const std::pair<int, int32_t>> parts, uint64_t& n_bytes);
  PartMask parts_of(const PageKey& key) const;
  int64_t restorable_pages(std::string_view space, std::span<const int32_t> tokens,
                           std::span<const PageKey> keys) const;
  int64_t restorable_state(std::string_view space, std::span<const int32_t> tokens, std::span<const PageKey> keys);
  PageKey key_of(const PrefixGap& gap, std::span<const int32_t> tokens, std::span<const PageKey> keys) const;
  enum class Brought { kAll, kNoRoom, kLost };
  Brought bring(std::string_view space, std::span<const int32_t> tokens, std::span<const PageKey> keys,
                PrefixExtent extent, ThreadPool& threads);

  PrefixCache& cache_;
  std::unique_ptr<PrefixTiers> tiers_;
  const uint64_t slice_bytes_;
  const bool has_disk_;
  std::deque<Waiting> waiting_;
  std::function<void()> progress_ = [] {};
};

}  // namespace ferrox
