#include "tier/disk_tier.h"

#include <bit>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "tier/file_io.h"

namespace ferrox {
namespace {

/// Worth that may be lost with the process: files aren't stamped with each use.
constexpr double kStampInterval_s = 60;
/// Between two attempts to become the writer of a folder that another process writes.
constexpr double kLockInterval_s = 1;
/// What the queue and its books take for one entry at most, beside the entry.
constexpr uint64_t kQueueBytes = 256;
/// The worth of a file that can't be read.
constexpr double kFirstToGo_s = -std::numeric_limits<double>::infinity();

}  // namespace

Result<std::unique_ptr<DiskTier>> DiskTier::open(const TierLayout& layout, const DiskTierOptions& options) {
  TRY_ASSIGN(Folder folder, Folder::open(options.folder));
  if (const auto locked = folder.lock(); !locked) {
    log().warn("prefix cache: {}; entries are read and none added until that ends", locked.error().message);
  }
  std::unique_ptr<DiskTier> tier(new DiskTier(layout, options, std::move(folder)));
  TRY(tier->scan());
  tier->writer_ = std::thread([raw = tier.get()] { raw->write_loop(); });
  return tier;
}

DiskTier::DiskTier(const TierLayout& layout, const DiskTierOptions& options, Folder folder)
    : layout_(layout),
      options_(options),
      folder_(std::move(folder)),
      is_writer_(folder_.is_locked()),
      index_(options.half_life_s),
      budget_bytes_(options.budget_bytes),
      shall_evict_(true) {}

DiskTier::~DiskTier() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (writer_.joinable()) writer_.join();
  while (IndexEntry* const leaf = index_.least_valuable()) forget(*leaf);
}

// Of two files of one key, which only somebody else can have put there, the one counts whose header says what its name
// says; of two such ones that with more parts.
Result<void> DiskTier::scan() {
  struct Found {
    EntryFileName name;
    const FolderFile* file;
  };
  TRY_ASSIGN(const auto files, folder_.files());
  std::unordered_map<PageKey, Found, KeyHash> found;
  const auto rank = [this](const EntryFileName& name) { return std::pair(proof_of(name), std::popcount(name.parts)); };
  for (const FolderFile& file : files) {
    const auto name = parse_entry_file_name(file.name);
    if (!name) continue;
    Found other{*name, &file};
    const auto [same, is_first] = found.try_emplace(name->key, other);
    if (is_first) continue;
    if (rank(*name) > rank(same->second.name)) std::swap(same->second, other);
    if (is_writer_) remove_file(other.name, Origin::kFound);
  }
  const std::lock_guard lock(mutex_);
  while (IndexEntry* const leaf = index_.least_valuable()) forget(*leaf);
  file_bytes_ = 0;
  for (const auto& [key, each] : found) {
    file_bytes_ += each.file->size_bytes;
    enter(each.name, each.file->size_bytes, each.file->modified_s, Origin::kFound);
  }
  return {};
}

NameProof DiskTier::proof_of(const EntryFileName& name) const {
  const auto file = folder_.open_file(to_text(name));
  return file ? prove_name(file->fd(), layout_, name) : NameProof::kNone;
}

DiskTier::Held* DiskTier::find_usable(const PageKey& key) const {
  auto* const held = static_cast<Held*>(index_.find(key));
  return held == nullptr || held->is_lost ? nullptr : held;
}

DiskTier::Held& DiskTier::enter(const EntryFileName& name, uint64_t size_bytes, double worth_s, Origin origin) {
  auto held = std::make_unique<Held>();
  held->name = name;
  held->size_bytes = size_bytes;
  held->worth_s = worth_s;
  held->stamped_s = worth_s;
  held->origin = origin;
  Held& entry = *held.release();
  index_.insert(entry);
  return entry;
}

// It stays in the books for its bytes alone.
void DiskTier::lose(IndexEntry& entry, double worth_s) {
  const auto& held = static_cast<const Held&>(entry);
  const EntryFileName name = held.name;
  const uint64_t size_bytes = held.size_bytes;
  const Origin origin = held.origin;
  forget(entry);
  enter(name, size_bytes, worth_s, origin).is_lost = true;
}

void DiskTier::forget(IndexEntry& entry) {
  index_.erase(entry);
  delete static_cast<Held*>(&entry);
}

PartMask DiskTier::parts_of(const PageKey& key) const {
  const std::lock_guard lock(mutex_);
  const Held* const held = find_usable(key);
  return held == nullptr ? 0 : held->name.parts;
}

DiskTier::Reserved DiskTier::reserve(const EntryName& name, PartMask parts, double now_s) {
  const uint64_t memory_bytes = TierEntry::memory_bytes(layout_, name.tokens.size(), parts) + kQueueBytes;
  const std::lock_guard lock(mutex_);
  const Held* const held = find_usable(name.key);
  const bool is_believed = held != nullptr && (held->origin == Origin::kProven || !is_writer_);  // else looked at first
  if (is_believed && !has_more_parts(parts, held->name.parts)) return Reserved::kHeld;
  const auto staged = staged_.find(name.key);
  if (staged != staged_.end() && !has_more_parts(parts, staged->second)) return Reserved::kHeld;
  if (!is_writer_ && now_s - asked_lock_s_ > kLockInterval_s) {
    asked_lock_s_ = now_s;
    wants_lock_ = true;
    wake_.notify_all();
  }
  if (!is_writer_ || is_finished_ || entry_file_bytes(layout_, name.tokens.size(), parts) > budget_bytes_ ||
      staged_bytes_ + memory_bytes > options_.staging_bytes) {
    ++counts_.n_dropped;
    return Reserved::kNoRoom;
  }
  staged_bytes_ += memory_bytes;
  staged_[name.key] = parts;
  return Reserved::kYes;
}

void DiskTier::stage(const EntryName& name, PartMask parts, std::shared_ptr<const TierEntry> entry, double now_s) {
  const uint64_t memory_bytes = TierEntry::memory_bytes(layout_, name.tokens.size(), parts) + kQueueBytes;
  const std::lock_guard lock(mutex_);
  if (entry == nullptr) {
    staged_bytes_ -= memory_bytes;
    staged_.erase(name.key);
    ++counts_.n_dropped;
    return;
  }
  queue_.push_back({.entry = std::move(entry), .memory_bytes = memory_bytes, .put_at_s = now_s});
  wake_.notify_all();
}

PartMask DiskTier::use(const PageKey& key, double now_s) {
  const std::lock_guard lock(mutex_);
  if (find_usable(key) != nullptr) return index_.use(key, now_s, counts_);
  ++counts_.n_misses;
  return 0;
}

std::optional<StateMatch> DiskTier::longest_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                                  int64_t max_tokens) const {
  const std::lock_guard lock(mutex_);
  return index_.longest_state(keys, tokens, layout_.page_rows, max_tokens);
}

DiskRead DiskTier::read(const PageKey& key, std::span<const PartTarget> targets) {
  EntryFileName name;
  std::optional<double> stamp_s;
  {
    const std::lock_guard lock(mutex_);
    Held* const held = find_usable(key);
    if (held == nullptr || (mask_of(targets) & ~held->name.parts) != 0) return DiskRead::kAbsent;
    name = held->name;
    if (is_writer_ && held->worth_s - held->stamped_s > kStampInterval_s) stamp_s = held->stamped_s = held->worth_s;
  }
  const auto done = [&]() -> Result<void> {
    TRY_ASSIGN(const Descriptor file, folder_.open_file(to_text(name)));
    TRY(read_entry_file(file.fd(), layout_, name, targets));
    if (stamp_s) stamp_file(file.fd(), *stamp_s);
    return {};
  }();
  if (!done) {
    drop_bad(name, done.error());
    return done.error().code == ErrorCode::kNotFound ? DiskRead::kAbsent : DiskRead::kDamaged;
  }
  const std::lock_guard lock(mutex_);
  ++counts_.n_loaded;
  counts_.bytes_loaded += bytes_of_parts(layout_, mask_of(targets));
  Held* const held = find_usable(key);
  if (held != nullptr && held->name == name) held->origin = Origin::kProven;
  return DiskRead::kGood;
}

// A file of ours that isn't what its name says goes. One that somebody else put there stays where it is, and isn't
// counted; one that can't be read stays as well, and is.
void DiskTier::drop_bad(const EntryFileName& name, const Error& why) {
  if (why.code != ErrorCode::kNotFound) {
    log().warn("prefix cache: {}: {}; counts as a miss", to_text(name), why.message);
  }
  const std::lock_guard lock(mutex_);
  if (why.code == ErrorCode::kIo) ++counts_.n_io_errors;
  if (why.code == ErrorCode::kCorrupt || why.code == ErrorCode::kUnsupported) ++counts_.n_damaged;
  IndexEntry* const held = index_.find(name.key);
  if (held == nullptr || held->name != name) return;
  if (why.code == ErrorCode::kIo || (is_writer_ && !remove_file(name, Origin::kFound))) {
    return lose(*held, kFirstToGo_s);
  }
  file_bytes_ -= held->size_bytes;
  forget(*held);
}

uint64_t DiskTier::staging_room() const {
  const std::lock_guard lock(mutex_);
  return is_writer_ ? options_.staging_bytes - staged_bytes_ : 0;
}

uint64_t DiskTier::staged_bytes() const {
  const std::lock_guard lock(mutex_);
  return staged_bytes_;
}

bool DiskTier::is_writer() const {
  const std::lock_guard lock(mutex_);
  return is_writer_;
}

TierStats DiskTier::stats() const {
  const std::lock_guard lock(mutex_);
  TierStats out = counts_;
  out.n_entries = index_.n_entries();
  out.bytes = file_bytes_;
  out.budget_bytes = budget_bytes_;
  return out;
}

void DiskTier::check_integrity() const {
  const std::lock_guard lock(mutex_);
  index_.check_integrity();
  uint64_t sum = 0;
  index_.for_each([&sum](const IndexEntry& entry) { sum += entry.size_bytes; });
  CHECK(sum + moving_bytes_ == file_bytes_, "what is counted is in the books");
}

}  // namespace ferrox
