#include "kv/kind_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kv/kv_layout.h"

namespace ferrox {

KindTable::KindTable(PagePool& pool, int32_t page_rows) : pool_(&pool), page_rows_(page_rows) {
  CHECK(page_rows > 0, "a page has rows");
}

KindTable::KindTable(KindTable&& other) noexcept
    : pool_(other.pool_),
      page_rows_(other.page_rows_),
      table_(std::exchange(other.table_, {})),
      held_(std::exchange(other.held_, {})),
      spare_(std::exchange(other.spare_, {})),
      released_(std::exchange(other.released_, 0)),
      locked_(std::exchange(other.locked_, 0)) {}

KindTable& KindTable::operator=(KindTable&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(page_rows_, other.page_rows_);
  table_.swap(other.table_);
  held_.swap(other.held_);
  spare_.swap(other.spare_);
  std::swap(released_, other.released_);
  std::swap(locked_, other.locked_);
  return *this;
}

KindTable::~KindTable() { release(); }

int64_t KindTable::n_missing(int64_t n_positions) const {
  const auto n_backed = static_cast<int64_t>(table_.size() + spare_.size());
  return std::max<int64_t>(0, kv_pages_for(n_positions, page_rows_) - n_backed);
}

bool KindTable::reserve_pages(int64_t n) {
  const size_t n_before = held_.size();
  if (!pool_->try_acquire(n, held_)) return false;
  spare_.insert(spare_.begin(), held_.rbegin(), held_.rend() - static_cast<ptrdiff_t>(n_before));
  return true;
}

void KindTable::return_pages(int64_t n) {
  CHECK(n >= 0 && n <= n_spare(), "only spare pages are given back early");
  const auto end = spare_.begin() + static_cast<ptrdiff_t>(n);  // the last are used next
  std::vector<int32_t> returned(spare_.begin(), end);
  spare_.erase(spare_.begin(), end);
  give_up(std::move(returned));
}

void KindTable::cover(int64_t n_positions) {
  const int64_t n_pages = kv_pages_for(n_positions, page_rows_);
  while (static_cast<int64_t>(table_.size()) < n_pages) {
    CHECK(!spare_.empty(), "rows are written where they are reserved");
    table_.push_back(spare_.back());
    spare_.pop_back();
  }
}

void KindTable::recycle(int64_t to) {
  const int64_t first = std::max(released_, locked_) / page_rows_;
  const int64_t end = to / page_rows_;
  CHECK(end <= static_cast<int64_t>(table_.size()), "only what was covered is recycled");
  std::vector<int32_t> given_up;
  for (int64_t i = first; i < end; ++i) {
    const int32_t page = table_[static_cast<size_t>(i)];
    (pool_->n_holders(page) > 1 ? given_up : spare_).push_back(page);
  }
  give_up(std::move(given_up));
  released_ = std::max(released_, end * page_rows_);
}

void KindTable::give_up(std::vector<int32_t> pages) {
  if (pages.empty()) return;
  std::sort(pages.begin(), pages.end());
  std::erase_if(held_, [&](int32_t page) { return std::binary_search(pages.begin(), pages.end(), page); });
  pool_->release(pages);
}

void KindTable::adopt(std::span<const int32_t> pages) {
  CHECK(table_.empty() && held_.empty(), "a prefix comes first");
  const auto first_live = std::find_if(pages.begin(), pages.end(), [](int32_t page) { return page >= 0; });
  const auto live = pages.subspan(static_cast<size_t>(first_live - pages.begin()));
  pool_->retain(live);
  table_.assign(pages.size(), 0);  // a stale entry names memory that is there
  std::copy(live.begin(), live.end(), table_.end() - static_cast<ptrdiff_t>(live.size()));
  held_.assign(live.begin(), live.end());
  released_ = static_cast<int64_t>(pages.size() - live.size()) * page_rows_;
  locked_ = covered();
}

void KindTable::replace(std::span<const PageDuplicate> duplicates) {
  if (duplicates.empty()) return;
  std::vector<int32_t> own;
  for (const auto& [index, page] : duplicates) {
    pool_->retain({&page, 1});
    own.push_back(std::exchange(table_[static_cast<size_t>(index)], page));
  }
  give_up(std::move(own));
  for (const auto& [index, page] : duplicates) held_.push_back(page);
}

std::vector<int32_t> KindTable::live_pages(int64_t length, int64_t from, int64_t to, int32_t none) const {
  std::vector<int32_t> pages(static_cast<size_t>(kv_pages_for(length, page_rows_)), none);
  const int64_t first = std::max(from, released_) / page_rows_;
  const int64_t end = kv_pages_for(std::min(to, length), page_rows_);
  for (int64_t i = first; i < end; ++i) pages[static_cast<size_t>(i)] = table_[static_cast<size_t>(i)];
  return pages;
}

void KindTable::share(KindTable& from, int64_t n_shared) {
  CHECK(table_.empty() && held_.empty() && n_shared <= static_cast<int64_t>(from.table_.size()),
        "a table that is empty shares pages that are there");
  const int64_t n_stale = std::min(from.released_ / page_rows_, n_shared);
  const auto shared = from.pages().first(static_cast<size_t>(n_shared));
  const auto live = shared.subspan(static_cast<size_t>(n_stale));
  pool_->retain(live);
  table_.assign(shared.begin(), shared.end());
  held_.assign(live.begin(), live.end());
  released_ = n_stale * page_rows_;
  locked_ = n_shared * page_rows_;
  from.locked_ = std::max(from.locked_, locked_);
}

void KindTable::release() {
  pool_->release(held_);
  table_.clear();
  held_.clear();
  spare_.clear();
  released_ = 0;
  locked_ = 0;
}

void KindTable::check_integrity() const {
  std::vector<int32_t> held = held_;
  std::sort(held.begin(), held.end());
  CHECK(std::adjacent_find(held.begin(), held.end()) == held.end(), "a page is held once");
  std::vector<int32_t> used(spare_);
  for (size_t i = static_cast<size_t>(released_ / page_rows_); i < table_.size(); ++i) used.push_back(table_[i]);
  std::sort(used.begin(), used.end());
  CHECK(std::adjacent_find(used.begin(), used.end()) == used.end(), "no page backs two live positions");
  CHECK(std::includes(held.begin(), held.end(), used.begin(), used.end()), "what is read is held");
  CHECK(locked_ > 0 || used.size() == held.size(), "what is held is read or spare");
  for (const int32_t page : held) CHECK(pool_->n_holders(page) > 0, "the pool knows of each holder");
}

}  // namespace ferrox
