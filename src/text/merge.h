// In which order do neighbouring symbols become one? Lowest rank first, leftmost among equals, in n log n.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "text/pair_map.h"

namespace ferrox {

/// A piece of the text being merged: bytes [start, start + length), linked to its neighbours.
struct MergeSymbol {
  uint32_t start;
  uint32_t length;   // 0: swallowed by the symbol to the left
  int32_t previous;  // -1: none
  int32_t next;      // -1: none
  int32_t id;
};

/// Symbols and the queue of possible merges. Kept between words so that their memory is.
class MergeList {
 public:
  void clear() { symbols_.clear(); }

  /// Appends a symbol right of the last one.
  void push_back(uint32_t start, uint32_t length, int32_t id) {
    const auto at = static_cast<int32_t>(symbols_.size());
    if (at > 0) symbols_.back().next = at;
    symbols_.push_back({start, length, at - 1, -1, id});
  }

  /// Merges until no pair of neighbours may. `find(left, right)` gives a PairMap::Value: the rank of the merge (kNone:
  /// they don't merge) and the id of what comes out. Every merge adds at most two candidates: O(n log n).
  template <class Find>
  void merge(Find find) {
    queue_.clear();
    for (int32_t left = 0; left + 1 < static_cast<int32_t>(symbols_.size()); ++left) {
      if (Candidate candidate; look(left, find, candidate)) queue_.push_back(candidate);
    }
    std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
    while (!queue_.empty()) {
      const Candidate best = queue_.front();
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      queue_.pop_back();
      if (is_stale(best)) continue;
      const int32_t left = best.left();
      join(left, best.id);
      offer(symbols_[static_cast<size_t>(left)].previous, find);
      offer(left, find);
    }
  }

  /// Calls `visit(symbol)` on what is left, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (int32_t at = symbols_.empty() ? -1 : 0; at >= 0; at = symbols_[static_cast<size_t>(at)].next) {
      visit(symbols_[static_cast<size_t>(at)]);
    }
  }

 private:
  struct Candidate {
    uint64_t key;     // rank, then the left symbol's index: the order of the queue
    uint32_t length;  // of both symbols when this was queued; another length now means that one has grown
    int32_t id;       // of what comes out
    int32_t left() const { return static_cast<int32_t>(key & UINT32_MAX); }
    bool operator>(const Candidate& other) const { return key > other.key; }
  };

  template <class Find>
  bool look(int32_t left, Find& find, Candidate& candidate) const {
    const MergeSymbol& a = symbols_[static_cast<size_t>(left)];
    if (a.next < 0) return false;
    const MergeSymbol& b = symbols_[static_cast<size_t>(a.next)];
    const PairMap::Value found = find(a, b);
    candidate = {uint64_t{found.rank} << 32 | static_cast<uint32_t>(left), a.length + b.length, found.id};
    return found.rank != PairMap::kNone;
  }

  template <class Find>
  void offer(int32_t left, Find& find) {
    Candidate candidate;
    if (left < 0 || !look(left, find, candidate)) return;
    queue_.push_back(candidate);
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  }

  bool is_stale(const Candidate& candidate) const {
    const MergeSymbol& a = symbols_[static_cast<size_t>(candidate.left())];
    if (a.length == 0 || a.next < 0) return true;
    return a.length + symbols_[static_cast<size_t>(a.next)].length != candidate.length;
  }

  void join(int32_t left, int32_t id) {
    MergeSymbol& a = symbols_[static_cast<size_t>(left)];
    MergeSymbol& b = symbols_[static_cast<size_t>(a.next)];
    a.length += b.length;
    a.id = id;
    b.length = 0;
    a.next = b.next;
    if (a.next >= 0) symbols_[static_cast<size_t>(a.next)].previous = left;
  }

  std::vector<MergeSymbol> symbols_;
  std::vector<Candidate> queue_;
};

}  // namespace ferrox
