// Which pages are free, over all attention kinds? One pool for each, and taking of all or none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kv/page_pool.h"

namespace ferrox {

class PageGroups {
 public:
  /// Pages of each kind; with kLastKind the last kind's pages are recurrent states.
  enum class State { kNone, kLastKind };
  explicit PageGroups(std::span<const int32_t> n_pages, State state = State::kNone);

  int n_kinds() const { return static_cast<int>(pools_.size()); }
  bool has_state() const { return has_state_; }
  int n_attention_kinds() const { return n_kinds() - (has_state_ ? 1 : 0); }
  PagePool& state_pool() { return pools_.back(); }
  PagePool& pool(int kind) { return pools_[static_cast<size_t>(kind)]; }
  const PagePool& pool(int kind) const { return pools_[static_cast<size_t>(kind)]; }

  /// Whether n[kind] pages are free in every kind.
  bool fits(std::span<const int64_t> n) const;

  /// Free and held pages over all kinds.
  int64_t n_free() const;
  int64_t n_held() const;

  void check_integrity() const;

 private:
  std::vector<PagePool> pools_;
  bool has_state_;
};

}  // namespace ferrox
