// Which entries are kept on disk? As many files as a budget holds, written by a thread of its own.
//
//   put: stage --> queue --> writer thread: evict, write beside, rename, enter into the books
//
// The books are what was found in the folder at the start and what was written since. A name that was found is believed
// only until it matters: before it keeps anything else from being stored its header is read, and before a row is used
// all of the file must agree. Whatever a name says, its file can go: every byte that is counted is one of the books.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tier/folder.h"
#include "tier/tier_entry.h"
#include "tier/tier_index.h"
#include "tier/tier_stats.h"

namespace ferrox {

struct DiskTierOptions {
  std::filesystem::path folder;
  uint64_t budget_bytes;
  uint64_t staging_bytes;
  double half_life_s;
};

/// What reading an entry came to.
enum class DiskRead { kGood, kAbsent, kDamaged };

/// Safe from any thread.
class DiskTier {
 public:
  /// Errors: a folder that can't be made, opened or listed.
  static Result<std::unique_ptr<DiskTier>> open(const TierLayout& layout, const DiskTierOptions& options);

  /// Writes what is staged.
  ~DiskTier();

  PartMask parts_of(const PageKey& key) const;

  /// Whether a copy of this entry shall be made and given to stage(): counts its bytes. Never waits.
  enum class Reserved { kYes, kHeld, kNoRoom };
  Reserved reserve(const EntryName& name, PartMask parts, double now_s);

  /// The entry that bytes were reserved for; nullptr: it wasn't made after all.
  void stage(const EntryName& name, PartMask parts, std::shared_ptr<const TierEntry> entry, double now_s);

  /// Counts a use of a key, whether it is held or not.
  PartMask use(const PageKey& key, double now_s);

  /// As TierIndex::longest_state.
  std::optional<StateMatch> longest_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                          int64_t max_tokens) const;

  /// Reads parts straight into memory and checks them. Those that the file lacks make it absent.
  DiskRead read(const PageKey& key, std::span<const PartTarget> targets);

  uint64_t staging_room() const;
  using TimePoint = std::chrono::steady_clock::time_point;
  void flush();
  bool flush_until(TimePoint deadline);
  size_t finish(TimePoint deadline);
  void set_budget(uint64_t budget_bytes);

  /// Nothing that was put so far is found any more; its files go by and by.
  void clear();
  TierStats stats() const;
  uint64_t staged_bytes() const;
  bool is_writer() const;

  /// CHECKs the books and the sum of bytes.
  void check_integrity() const;

 private:
  /// A file that was found is removed, or kept in place of another, only after a look at what it is.
  enum class Origin { kFound, kProven };
  struct Held : IndexEntry {
    double stamped_s = 0;  ///< the worth that the file's time stamp holds
    Origin origin = Origin::kFound;
    bool is_lost = false;  ///< of no use, but its bytes are there: it can't be read, or is damaged and doesn't go
  };
  struct Job {
    std::shared_ptr<const TierEntry> entry;
    uint64_t memory_bytes;
    double put_at_s;
  };
  struct KeyHash {
    size_t operator()(const PageKey& key) const { return short_hash(key); }
  };

  DiskTier(const TierLayout& layout, const DiskTierOptions& options, Folder folder);
  Result<void> scan();
  NameProof proof_of(const EntryFileName& name) const;
  Held* find_usable(const PageKey& key) const;
  Held& enter(const EntryFileName& name, uint64_t size_bytes, double worth_s, Origin origin);
  void lose(IndexEntry& entry, double worth_s);
  void forget(IndexEntry& entry);

  // Of the writer thread. They hold the lock but while they work on files.
  using Lock = std::unique_lock<std::mutex>;
  bool has_work() const;
  void write_loop();
  void work(Lock& lock);
  void become_writer(Lock& lock);
  void write(const Job& job, Lock& lock);
  bool is_held_as_good(const EntryFileName& name, Lock& lock);
  bool make_room(uint64_t size_bytes, const EntryName* for_entry, Lock& lock);
  bool evict(IndexEntry& entry, Lock& lock);
  void remove_lost(Lock& lock);
  size_t drop_queue();
  bool remove_file(const EntryFileName& name, Origin origin) const;
  bool is_idle_since(uint64_t n_jobs) const;
  uint64_t n_jobs() const { return n_written_ + queue_.size() + (is_writing_ ? 1 : 0); }
  void note_failure(const EntryFileName& name, const Error& why);

  void drop_bad(const EntryFileName& name, const Error& why);

  const TierLayout layout_;
  const DiskTierOptions options_;

  mutable std::mutex mutex_;  ///< of all below but the folder, in which only the writer thread writes
  std::condition_variable wake_;
  std::condition_variable idle_;
  Folder folder_;
  bool is_writer_;
  TierIndex index_;
  uint64_t budget_bytes_;
  bool shall_evict_;
  bool shall_remove_lost_ = false;
  uint64_t n_clears_ = 0;
  uint64_t file_bytes_ = 0;    ///< of the folder's entries and of the file being written or removed
  uint64_t moving_bytes_ = 0;  ///< of the latter
  uint64_t staged_bytes_ = 0;
  std::unordered_map<PageKey, PartMask, KeyHash> staged_;
  std::deque<Job> queue_;
  uint64_t n_written_ = 0;     ///< jobs that are done, dropped ones too
  bool is_writing_ = false;    ///< one that left the queue isn't done yet
  bool is_preparing_ = false;  ///< the lock is asked for, or files are let go
  bool is_stopping_ = false;
  bool is_finished_ = false;  ///< nothing is begun any more
  bool wants_lock_ = false;
  bool is_failing_ = false;  ///< the last write failed: a log line when that begins, not for each file
  double asked_lock_s_ = 0;
  TierStats counts_;
  std::thread writer_;
};

}  // namespace ferrox
