// Where do prefixes go that the store has no room for, and after a restart? To host memory and to a folder.
//
//   put ---- copy ----> host tier                 peek, find: the index alone, no I/O
//               `-----> staging --> writer thread --> disk tier
//   load <-- host memory, else preadv straight into the pages, checked
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "tier/tier_entry.h"
#include "tier/tier_stats.h"

namespace ferrox {

struct TierOptions {
  uint64_t host_bytes = 0;                       ///< 0: nothing is kept in memory
  std::filesystem::path disk_folder;             ///< empty: nothing is kept on disk
  uint64_t disk_bytes = 0;                       ///< 0: nothing is kept on disk
  uint64_t staging_bytes = uint64_t{256} << 20;  ///< most memory that waits to be written
  double half_life_s = 3600;                     ///< a hit is worth half as much after this long
  std::function<double()> clock_s;               ///< seconds since 1970; absent: the system's
};

enum class PutOutcome {
  kStored,   ///< in memory, or on its way to the disk
  kHeld,     ///< nothing to do: what was given is held already
  kDropped,  ///< larger than the budgets, or staging is full: may be tried again later
};

enum class LoadOutcome {
  kGood,     ///< every part that was asked for lies where it should, checked
  kAbsent,   ///< not held (any more)
  kDamaged,  ///< its bytes can't be trusted, and are gone; the targets hold anything
};

struct LoadRequest {
  PageKey key;
  std::span<const PartTarget> parts;
  LoadOutcome outcome = LoadOutcome::kAbsent;  ///< load's answer
};

/// All methods are safe from any thread; none fails for memory, disks or files: what can't be kept isn't.
class PrefixTiers {
 public:
  /// Sweeps what a killed writer left in the folder, and reads the names of the files there. A folder that another
  /// process writes is read only, until that one ends. Errors: an invalid layout, a folder that can't be made or read.
  static Result<std::unique_ptr<PrefixTiers>> open(const TierLayout& layout, const TierOptions& options);

  /// Writes what is staged.
  ~PrefixTiers();

  const TierLayout& layout() const;

  /// False when both budgets are 0: nothing is ever stored.
  bool stores_anything() const;

  /// Copies an entry here, on the calling thread; never waits for a disk. One that is held with fewer parts is
  /// replaced. Put a prefix's pages in order: one that continues what isn't held makes nothing else go. CHECKs parts
  /// against the layout.
  PutOutcome put(const EntryName& name, std::span<const PartSource> parts);

  /// The parts held of keys[0], keys[1], ... up to the first key that isn't held at all. Changes nothing.
  std::vector<PartMask> peek(std::span<const PageKey> keys) const;

  /// The same, as a use of what is found: it stays longer, and is counted.
  std::vector<PartMask> find(std::span<const PageKey> keys);

  /// The longest held state of a prompt: keys[i] is the key of its first i pages (keys[0]: the root), for as many whole
  /// pages as `tokens` has. States of at most max_tokens tokens count. A use of what is found.
  std::optional<StateMatch> find_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                       int64_t max_tokens);

  /// Reads entries straight into memory, spread over the pool's threads, and says for each whether it is good. CHECKs
  /// parts against the layout.
  void load(std::span<LoadRequest> requests, ThreadPool& pool);

  /// Bytes that staging can take now.
  uint64_t staging_room() const;

  /// Waits until everything staged so far is written or dropped.
  void flush();

  using TimePoint = std::chrono::steady_clock::time_point;

  /// The same, until then at most. False when something is still staged.
  bool flush_until(TimePoint deadline);

  /// The same, and drops what is still staged then, so that the end waits for no more than the file being written.
  /// Nothing is stored any more. Gives how many entries that costs.
  size_t finish(TimePoint deadline);

  /// Lets go of all that is held in memory and not still to be written.
  void clear_memory();

  /// Nothing that was put so far is found any more, and the files of this model go, by and by.
  void clear();

  /// A smaller budget evicts at once (on the writer thread); sessions in the same folder make room this way.
  void set_disk_budget(uint64_t disk_bytes);

  PrefixTierStats stats() const;

  /// CHECKs the books of both tiers.
  void check_integrity() const;

 private:
  struct State;
  explicit PrefixTiers(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ferrox
