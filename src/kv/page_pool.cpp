#include "kv/page_pool.h"

#include <algorithm>

#include "base/check.h"

namespace ferrox {

PagePool::PagePool(int32_t n_pages) : held_(static_cast<size_t>(std::max(n_pages, 0)), false) {
  CHECK(n_pages >= 0, "a pool has a number of pages");
  free_.reserve(held_.size());
  for (int32_t page = n_pages - 1; page >= 0; --page) free_.push_back(page);
}

bool PagePool::try_acquire(int64_t n, std::vector<int32_t>& table) {
  CHECK(n >= 0, "a number of pages is not negative");
  if (n > n_free()) return false;
  table.reserve(table.size() + static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int32_t page = free_.back();
    free_.pop_back();
    held_[static_cast<size_t>(page)] = true;
    table.push_back(page);
  }
  return true;
}

void PagePool::release(const std::vector<int32_t>& pages) {
  for (auto it = pages.rbegin(); it != pages.rend(); ++it) {
    CHECK(*it >= 0 && *it < n_pages(), "a page that is given back belongs to this pool");
    CHECK(held_[static_cast<size_t>(*it)], "a page is given back once");
    held_[static_cast<size_t>(*it)] = false;
    free_.push_back(*it);
  }
}

void PagePool::check_integrity() const {
  std::vector<bool> seen(held_.size(), false);
  for (const int32_t page : free_) {
    CHECK(page >= 0 && page < n_pages(), "a free page belongs to the pool");
    CHECK(!seen[static_cast<size_t>(page)], "a page is free once");
    CHECK(!held_[static_cast<size_t>(page)], "a free page is not held");
    seen[static_cast<size_t>(page)] = true;
  }
  CHECK(std::count(held_.begin(), held_.end(), true) == n_held(), "every page is free or held");
}

}  // namespace ferrox
