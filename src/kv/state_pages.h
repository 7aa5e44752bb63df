// Which recurrent states does a sequence hold? Its own, and those set aside for its other choices.
#pragma once

#include <utility>
#include <vector>

#include "base/check.h"
#include "kv/page_pool.h"

namespace ferrox {

/// Every CHECK is a bug of the caller.
class StatePages {
 public:
  /// `pool` must outlive this.
  explicit StatePages(PagePool& pool) : pool_(&pool) {}
  StatePages(StatePages&& other) noexcept : pool_(other.pool_), held_(std::exchange(other.held_, {})) {}
  StatePages& operator=(StatePages&& other) noexcept {
    std::swap(pool_, other.pool_);
    held_.swap(other.held_);
    return *this;
  }
  ~StatePages() { release(); }

  /// The sequence's own page.
  int32_t page() const {
    CHECK(!held_.empty(), "a sequence has a state");
    return held_.front();
  }
  int64_t n_held() const { return static_cast<int64_t>(held_.size()); }

  bool reserve(int64_t n) { return pool_->try_acquire(n, held_); }

  /// Gives n of those set aside back.
  void give_back(int64_t n) {
    CHECK(n >= 0 && n <= n_held(), "only what is held is given back");
    const auto first = held_.end() - static_cast<ptrdiff_t>(n);
    pool_->release({first, held_.end()});
    held_.erase(first, held_.end());
  }

  void release() { give_back(n_held()); }

 private:
  PagePool* pool_;
  std::vector<int32_t> held_;
};

}  // namespace ferrox
