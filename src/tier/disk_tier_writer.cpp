// What does the disk tier's own thread do? It lets files go, writes what is staged, and waits for a folder to be free.
#include <array>
#include <limits>
#include <utility>

#include "base/log.h"
#include "tier/disk_tier.h"

namespace ferrox {
namespace {

/// Files that may refuse to go before an attempt to make room ends. They go last then, so that the next attempt meets
/// others.
constexpr int kMostRefusals = 8;
constexpr double kLastToGo_s = std::numeric_limits<double>::infinity();

}  // namespace

bool DiskTier::has_work() const { return wants_lock_ || shall_evict_ || shall_remove_lost_ || !queue_.empty(); }

void DiskTier::write_loop() {
  Lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return is_stopping_ || has_work(); });
    if (!has_work()) return;
    work(lock);
    idle_.notify_all();
  }
}

void DiskTier::work(Lock& lock) {
  is_preparing_ = wants_lock_ || shall_evict_ || shall_remove_lost_;
  if (std::exchange(wants_lock_, false)) become_writer(lock);
  if (std::exchange(shall_remove_lost_, false) && is_writer_) remove_lost(lock);
  if (std::exchange(shall_evict_, false) && is_writer_) make_room(0, nullptr, lock);
  is_preparing_ = false;
  if (queue_.empty()) return;
  const Job job = std::move(queue_.front());
  queue_.pop_front();
  is_writing_ = true;
  write(job, lock);
  is_writing_ = false;
  staged_bytes_ -= job.memory_bytes;
  ++n_written_;
  const auto staged = staged_.find(job.entry->name().key);
  if (staged != staged_.end() && staged->second == job.entry->parts()) staged_.erase(staged);
}

void DiskTier::become_writer(Lock& lock) {
  lock.unlock();
  const bool is_locked = folder_.lock().has_value();
  lock.lock();
  if (!is_locked || is_writer_) return;
  is_writer_ = true;
  shall_evict_ = true;
  lock.unlock();
  if (const auto done = scan(); !done) log().warn("prefix cache: {}", done.error().message);
  log().info("prefix cache: {}: the folder is free to write; writing from now on", options_.folder.string());
  lock.lock();
}

void DiskTier::write(const Job& job, Lock& lock) {
  const EntryFileName name = file_name_of(*job.entry);
  const uint64_t size_bytes = entry_file_bytes(layout_, name.n_tokens, name.parts);
  if (is_held_as_good(name, lock)) return;
  const EntryName entry_name = job.entry->name();
  IndexEntry* const same = index_.find(name.key);
  if ((same != nullptr && !evict(*same, lock)) || !make_room(size_bytes, &entry_name, lock)) {
    ++counts_.n_dropped;
    return;
  }
  file_bytes_ += size_bytes;
  moving_bytes_ = size_bytes;
  const uint64_t n_clears = n_clears_;
  lock.unlock();
  const auto done = folder_.write_beside(to_text(name), job.put_at_s, Existing::kKept, [&](int fd) {
    const auto header = encode_entry_header(layout_, *job.entry);
    return write_pieces(fd, std::array<std::span<const std::byte>, 2>{header, job.entry->bytes()});
  });
  lock.lock();
  moving_bytes_ = 0;
  if (!done) {
    file_bytes_ -= size_bytes;
    return note_failure(name, done.error());
  }
  is_failing_ = false;
  ++counts_.n_stored;
  enter(name, size_bytes, job.put_at_s, Origin::kProven).is_lost = n_clears != n_clears_;
}

// Whether a file is there that has as many parts, by more than its name.
bool DiskTier::is_held_as_good(const EntryFileName& name, Lock& lock) {
  Held* held = find_usable(name.key);
  if (held == nullptr || has_more_parts(name.parts, held->name.parts)) return false;
  if (held->origin == Origin::kProven) return true;
  const EntryFileName found = held->name;
  lock.unlock();
  const bool is_proven = proof_of(found) == NameProof::kThisModel;
  lock.lock();
  held = find_usable(name.key);  // a reader may have seen meanwhile that it is damaged
  if (!is_proven || held == nullptr) return false;
  held->origin = Origin::kProven;
  return true;
}

bool DiskTier::make_room(uint64_t size_bytes, const EntryName* for_entry, Lock& lock) {
  int n_refusals = 0;
  while (file_bytes_ + size_bytes > budget_bytes_) {
    if (is_finished_) return false;
    IndexEntry* const leaf = for_entry == nullptr ? index_.least_valuable() : index_.least_valuable_for(*for_entry);
    if (leaf == nullptr) return false;
    if (evict(*leaf, lock)) {
      ++counts_.n_evicted;
    } else if (++n_refusals == kMostRefusals) {
      return false;
    }
  }
  return true;
}

// Its bytes count until the file is gone. False when it stays.
bool DiskTier::evict(IndexEntry& entry, Lock& lock) {
  const EntryFileName name = entry.name;
  const uint64_t size_bytes = entry.size_bytes;
  const Origin origin = static_cast<Held&>(entry).origin;
  const bool is_lost = static_cast<Held&>(entry).is_lost;
  forget(entry);
  moving_bytes_ = size_bytes;
  lock.unlock();
  const bool is_gone = remove_file(name, origin);
  lock.lock();
  moving_bytes_ = 0;
  if (is_gone) {
    file_bytes_ -= size_bytes;
    return true;
  }
  ++counts_.n_io_errors;
  enter(name, size_bytes, kLastToGo_s, origin).is_lost = is_lost;
  return false;
}

// Of what can't be found any more that which is of this model. Whether it is stands in its file.
void DiskTier::remove_lost(Lock& lock) {
  std::vector<EntryFileName> lost;
  index_.for_each([&lost](const IndexEntry& entry) {
    if (static_cast<const Held&>(entry).is_lost) lost.push_back(entry.name);
  });
  for (const EntryFileName& name : lost) {
    if (is_finished_) return;
    lock.unlock();
    const bool is_ours = proof_of(name) == NameProof::kThisModel;
    lock.lock();
    IndexEntry* const entry = index_.find(name.key);
    const bool is_there = entry != nullptr && entry->name == name && static_cast<const Held&>(*entry).is_lost;
    if (is_ours && is_there) evict(*entry, lock);
  }
}

// True as well for a file that isn't ours to remove: its bytes aren't ours either.
bool DiskTier::remove_file(const EntryFileName& name, Origin origin) const {
  const std::string text = to_text(name);
  if (origin == Origin::kFound) {
    const auto file = folder_.open_file(text);
    if (file && !is_entry_file(file->fd())) {
      log().warn("prefix cache: {}: not a file of ferrox; left where it is", text);
      return true;
    }
  }
  return folder_.remove(text);
}

void DiskTier::note_failure(const EntryFileName& name, const Error& why) {
  ++counts_.n_dropped;
  ++counts_.n_io_errors;
  if (std::exchange(is_failing_, true)) return;
  log().warn("prefix cache: {}: {}; not written, nor said again until a file is", to_text(name), why.message);
}

void DiskTier::flush() {
  Lock lock(mutex_);
  idle_.wait(lock, [this, n = n_jobs()] { return is_idle_since(n); });
}

bool DiskTier::flush_until(TimePoint deadline) {
  Lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this, n = n_jobs()] { return is_idle_since(n); });
}

bool DiskTier::is_idle_since(uint64_t n_jobs) const {
  return n_written_ >= n_jobs && !is_preparing_ && !wants_lock_ && !shall_evict_ && !shall_remove_lost_;
}

size_t DiskTier::finish(TimePoint deadline) {
  Lock lock(mutex_);
  idle_.wait_until(lock, deadline, [this, n = n_jobs()] { return is_idle_since(n); });
  is_finished_ = true;
  const size_t n_dropped = drop_queue();
  wants_lock_ = false;
  shall_evict_ = false;
  shall_remove_lost_ = false;
  counts_.n_dropped += n_dropped;
  idle_.notify_all();
  return n_dropped;
}

/// What waits to be written isn't any more.
size_t DiskTier::drop_queue() {
  const size_t n_dropped = queue_.size();
  for (const Job& job : queue_) {
    staged_bytes_ -= job.memory_bytes;
    staged_.erase(job.entry->name().key);
  }
  queue_.clear();
  n_written_ += n_dropped;
  return n_dropped;
}

void DiskTier::clear() {
  const std::lock_guard lock(mutex_);
  drop_queue();
  staged_.clear();
  index_.for_each([](IndexEntry& entry) { static_cast<Held&>(entry).is_lost = true; });
  ++n_clears_;
  shall_remove_lost_ = true;
  wake_.notify_all();
  idle_.notify_all();
}

void DiskTier::set_budget(uint64_t budget_bytes) {
  const std::lock_guard lock(mutex_);
  budget_bytes_ = budget_bytes;
  shall_evict_ = true;
  wake_.notify_all();
}

}  // namespace ferrox
