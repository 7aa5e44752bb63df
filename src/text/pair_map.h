// What is known about a pair of numbers? A flat hash map from two to two, built once, read often.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace ferrox {

/// Maps (left, right) to a rank and an id. Open addressing, at most two thirds full; the first value entered for a pair
/// stays.
class PairMap {
 public:
  struct Value {
    uint32_t rank = kNone;
    int32_t id = 0;
  };
  static constexpr uint32_t kNone = UINT32_MAX;  ///< the rank of a pair that isn't there

  /// Room for `n_pairs` insertions.
  explicit PairMap(size_t n_pairs = 0) : slots_(std::bit_ceil(n_pairs + n_pairs / 2 + 2)) {}

  void insert(uint32_t left, uint32_t right, Value value) {
    Slot& slot = slots_[locate(key_of(left, right))];
    if (slot.value.rank == kNone) slot = {key_of(left, right), value};
  }

  /// Starts bringing in what a following insert or find will touch.
  void prefetch(uint32_t left, uint32_t right) const {
    __builtin_prefetch(&slots_[hash_of(key_of(left, right)) & (slots_.size() - 1)]);
  }

  Value find(uint32_t left, uint32_t right) const { return slots_[locate(key_of(left, right))].value; }

 private:
  struct Slot {
    uint64_t key = 0;
    Value value;
  };
  static uint64_t key_of(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

  static uint64_t hash_of(uint64_t key) {
    const uint64_t hash = key * 0x9E3779B97F4A7C15;  // 2^64 / golden ratio; the high half is the well mixed one
    return hash >> 32 ^ hash >> 15;
  }

  size_t locate(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash_of(key) & mask;
    while (slots_[at].value.rank != kNone && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_;  // a power of two of them
};

}  // namespace ferrox
