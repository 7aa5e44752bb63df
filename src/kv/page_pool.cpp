#include "kv/page_pool.h"

#include <algorithm>

#include "base/check.h"

namespace ferrox {

PagePool::PagePool(int32_t n_pages) : n_pages_(n_pages) { CHECK(n_pages >= 0, "a pool has a number of pages"); }

int32_t& PagePool::holders(int32_t page) {
  CHECK(page >= 0 && static_cast<size_t>(page) < n_holders_.size(), "a page belongs to this pool and was given out");
  return n_holders_[static_cast<size_t>(page)];
}

int32_t PagePool::n_holders(int32_t page) const {
  CHECK(page >= 0 && page < n_pages(), "a page belongs to this pool");
  return static_cast<size_t>(page) < n_holders_.size() ? n_holders_[static_cast<size_t>(page)] : 0;
}

int32_t PagePool::take_one() {
  if (free_.empty()) {
    n_holders_.push_back(1);
    is_kept_.push_back(false);
    return static_cast<int32_t>(n_holders_.size()) - 1;
  }
  const int32_t page = free_.back();
  free_.pop_back();
  holders(page) = 1;
  return page;
}

bool PagePool::try_acquire(int64_t n, std::vector<int32_t>& table) {
  CHECK(n >= 0, "a number of pages is not negative");
  if (n > n_free()) return false;
  table.reserve(table.size() + static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) table.push_back(take_one());
  return true;
}

void PagePool::retain(std::span<const int32_t> pages) {
  for (const int32_t page : pages) {
    CHECK(holders(page) > 0, "a page that is retained has a holder");
    if (++holders(page) == 2 && is_kept(page)) --n_idle_;
  }
}

void PagePool::release(std::span<const int32_t> pages) {
  for (auto it = pages.rbegin(); it != pages.rend(); ++it) {
    CHECK(holders(*it) > 0, "each holder gives a page back once");
    CHECK(holders(*it) > 1 || !is_kept(*it), "the tree stops keeping a page before it gives it back");
    const int32_t n_left = --holders(*it);
    if (n_left == 0) free_.push_back(*it);
    if (n_left == 1 && is_kept(*it)) ++n_idle_;
  }
}

void PagePool::keep(int32_t page) {
  CHECK(holders(page) > 0 && !is_kept(page), "the tree keeps a page that somebody holds, once");
  ++holders(page);
  is_kept_[static_cast<size_t>(page)] = true;
  ++n_kept_;
}

void PagePool::drop(int32_t page) {
  CHECK(is_kept(page), "the tree drops what it keeps");
  n_idle_ -= holders(page) == 1;
  --n_kept_;
  is_kept_[static_cast<size_t>(page)] = false;
  if (--holders(page) == 0) free_.push_back(page);
}

void PagePool::check_integrity() const {
  std::vector<bool> seen(n_holders_.size(), false);
  for (const int32_t page : free_) {
    CHECK(n_holders(page) == 0, "a free page has no holder");
    CHECK(!seen[static_cast<size_t>(page)], "a page is free once");
    seen[static_cast<size_t>(page)] = true;
  }
  int32_t n_kept = 0;
  int32_t n_idle = 0;
  for (size_t page = 0; page < n_holders_.size(); ++page) {
    CHECK(!is_kept_[page] || n_holders_[page] > 0, "the tree is a holder of what it keeps");
    n_kept += is_kept_[page];
    n_idle += is_kept_[page] && n_holders_[page] == 1;
  }
  CHECK(n_kept == n_kept_ && n_idle == n_idle_, "what the tree keeps is counted");
  const auto n_without = std::count(n_holders_.begin(), n_holders_.end(), 0);
  CHECK(static_cast<size_t>(n_without) == free_.size(), "every page that was given out is held or free again");
  CHECK(n_holders_.size() <= static_cast<size_t>(n_pages_), "no page was given out that isn't there");
}

}  // namespace ferrox
