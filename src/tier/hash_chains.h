// How is an entry found by a key, when every byte of the table counts? Chains through the entries, and buckets that
// grow only where the caller says so.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tier/page_key.h"

namespace ferrox {

/// An entry's place in one table: `link` of the traits names it.
template <class Entry>
struct ChainLink {
  Entry* next = nullptr;
  Entry** at = nullptr;  ///< what points here: the bucket, or the entry before
};

/// Traits: link(Entry&) -> ChainLink<Entry>&, key(const Entry&) -> const PageKey&. Keys may stand more than once. Owns
/// its buckets, no entry.
template <class Entry, class Traits>
class HashChains {
 public:
  size_t size() const { return n_entries_; }
  uint64_t bytes() const { return n_buckets_ * sizeof(Entry*); }

  /// Bytes that room for n entries adds at its peak, while old and new buckets are both there; 0 mostly.
  uint64_t growth_bytes(size_t n) const { return n <= n_buckets_ ? 0 : grown(n) * sizeof(Entry*); }

  /// As many buckets as n entries want. Nothing else allocates.
  void grow(size_t n) {
    if (n <= n_buckets_) return;
    HashChains wider;
    wider.n_buckets_ = grown(n);
    wider.buckets_ = std::make_unique<Entry*[]>(wider.n_buckets_);
    for (size_t i = 0; i < n_buckets_; ++i) {
      while (Entry* const entry = buckets_[i]) {
        erase(*entry);
        wider.insert(*entry);
      }
    }
    std::swap(buckets_, wider.buckets_);
    std::swap(n_buckets_, wider.n_buckets_);
    std::swap(n_entries_, wider.n_entries_);
  }

  /// There must be a bucket.
  void insert(Entry& entry) {
    Entry** const head = &buckets_[bucket_of(Traits::key(entry))];
    auto& link = Traits::link(entry);
    link.next = *head;
    link.at = head;
    if (link.next != nullptr) Traits::link(*link.next).at = &link.next;
    *head = &entry;
    ++n_entries_;
  }

  void erase(Entry& entry) {
    auto& link = Traits::link(entry);
    *link.at = link.next;
    if (link.next != nullptr) Traits::link(*link.next).at = link.at;
    link = {};
    --n_entries_;
  }

  /// The newest of that key, or nullptr.
  Entry* find(const PageKey& key) const { return n_buckets_ == 0 ? nullptr : next_of(buckets_[bucket_of(key)], key); }

  /// visit(entry) for each.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = 0; i < n_buckets_; ++i) {
      for (Entry* entry = buckets_[i]; entry != nullptr;) {
        Entry* const next = Traits::link(*entry).next;  // the visitor may delete it
        visit(*entry);
        entry = next;
      }
    }
  }

 private:
  static constexpr size_t kFirstBuckets = 16;

  static size_t grown(size_t n) { return std::bit_ceil(std::max(n, kFirstBuckets)); }
  size_t bucket_of(const PageKey& key) const { return short_hash(key) & (n_buckets_ - 1); }

  static Entry* next_of(Entry* entry, const PageKey& key) {
    while (entry != nullptr && !(Traits::key(*entry) == key)) entry = Traits::link(*entry).next;
    return entry;
  }

  std::unique_ptr<Entry*[]> buckets_;
  size_t n_buckets_ = 0;  ///< a power of two, or none
  size_t n_entries_ = 0;
};

}  // namespace ferrox
