#include "tier/host_tier.h"

#include <utility>

#include "base/check.h"

namespace ferrox {

struct HostTier::Held : IndexEntry {
  std::shared_ptr<const TierEntry> entry;
};

namespace {

/// What the heap adds to a block at most: a header, and rounding to 16.
constexpr uint64_t kHeapBytes = 24;

}  // namespace

HostTier::HostTier(const TierLayout& layout, uint64_t budget_bytes, double half_life_s)
    : layout_(layout), budget_bytes_(budget_bytes), index_(half_life_s) {}

HostTier::~HostTier() {
  while (IndexEntry* const leaf = index_.least_valuable()) drop(*leaf);
}

uint64_t HostTier::cost(size_t n_tokens, PartMask parts) const {
  return sizeof(Held) + kHeapBytes + TierEntry::memory_bytes(layout_, n_tokens, parts);
}

bool HostTier::fits(uint64_t size_bytes) const {
  return used_bytes() + index_.growth_bytes() + size_bytes <= budget_bytes_;
}

void HostTier::drop(IndexEntry& entry) {
  index_.erase(entry);
  bytes_ -= entry.size_bytes;
  delete static_cast<Held*>(&entry);
}

PartMask HostTier::parts_of(const PageKey& key) const {
  const std::lock_guard lock(mutex_);
  const IndexEntry* const held = index_.find(key);
  return held == nullptr ? 0 : held->name.parts;
}

bool HostTier::reserve(const EntryName& name, PartMask parts) {
  if (budget_bytes_ == 0) return false;
  const uint64_t size_bytes = cost(name.tokens.size(), parts);
  const std::lock_guard lock(mutex_);
  IndexEntry* const same = index_.find(name.key);
  if (same != nullptr && !has_more_parts(parts, same->name.parts)) return false;
  if (size_bytes > budget_bytes_) {
    ++counts_.n_dropped;
    return false;
  }
  if (same != nullptr) drop(*same);
  while (!fits(size_bytes)) {
    IndexEntry* const leaf = index_.least_valuable_for(name);
    if (leaf == nullptr) {
      ++counts_.n_dropped;
      return false;
    }
    drop(*leaf);
    ++counts_.n_evicted;
  }
  bytes_ += size_bytes;
  return true;
}

void HostTier::commit(const EntryName& name, PartMask parts, std::shared_ptr<const TierEntry> entry, double now_s) {
  const uint64_t size_bytes = cost(name.tokens.size(), parts);
  const std::lock_guard lock(mutex_);
  // Another thread may have been faster under this key, or have filled what the tables may grow by.
  if (entry == nullptr || index_.find(name.key) != nullptr || used_bytes() + index_.growth_bytes() > budget_bytes_) {
    bytes_ -= size_bytes;
    return;
  }
  auto held = std::make_unique<Held>();
  held->name = file_name_of(*entry);
  held->size_bytes = size_bytes;
  held->worth_s = now_s;
  held->entry = std::move(entry);
  index_.insert(*held.release());
  ++counts_.n_stored;
}

std::shared_ptr<const TierEntry> HostTier::get(const PageKey& key) const {
  const std::lock_guard lock(mutex_);
  const IndexEntry* const held = index_.find(key);
  return held == nullptr ? nullptr : static_cast<const Held*>(held)->entry;
}

PartMask HostTier::use(const PageKey& key, double now_s) {
  if (budget_bytes_ == 0) return 0;
  const std::lock_guard lock(mutex_);
  return index_.use(key, now_s, counts_);
}

std::optional<StateMatch> HostTier::longest_state(std::span<const PageKey> keys, std::span<const int32_t> tokens,
                                                  int64_t max_tokens) const {
  const std::lock_guard lock(mutex_);
  return index_.longest_state(keys, tokens, layout_.page_rows, max_tokens);
}

void HostTier::count_load(uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  ++counts_.n_loaded;
  counts_.bytes_loaded += size_bytes;
}

void HostTier::clear() {
  const std::lock_guard lock(mutex_);
  while (IndexEntry* const leaf = index_.least_valuable()) drop(*leaf);
}

TierStats HostTier::stats() const {
  const std::lock_guard lock(mutex_);
  TierStats out = counts_;
  out.n_entries = index_.n_entries();
  out.bytes = used_bytes();
  out.budget_bytes = budget_bytes_;
  return out;
}

void HostTier::check_integrity() const {
  const std::lock_guard lock(mutex_);
  index_.check_integrity();
  uint64_t sum = 0;
  index_.for_each([&sum](const IndexEntry& entry) { sum += entry.size_bytes; });
  CHECK(sum == bytes_, "bytes are those of the entries");
  CHECK(used_bytes() <= budget_bytes_, "a budget is kept");
}

}  // namespace ferrox
