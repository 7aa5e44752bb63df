#include "kv/sequence_kv.h"

#include <limits>
#include <utility>

#include "base/check.h"
#include "kv/kv_layout.h"

namespace ferrox {

SequenceKv::SequenceKv(PagePool& pool, int32_t page_rows) : pool_(&pool), page_rows_(page_rows) {
  CHECK(page_rows > 0, "a page has rows");
}

SequenceKv::SequenceKv(SequenceKv&& other) noexcept
    : pool_(other.pool_),
      page_rows_(other.page_rows_),
      length_(std::exchange(other.length_, 0)),
      table_(std::exchange(other.table_, {})) {}

SequenceKv& SequenceKv::operator=(SequenceKv&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(page_rows_, other.page_rows_);
  std::swap(length_, other.length_);
  std::swap(table_, other.table_);
  return *this;
}

SequenceKv::~SequenceKv() { release(); }

bool SequenceKv::reserve(int64_t n) {
  CHECK(n >= 0, "a number of rows is not negative");
  if (n > std::numeric_limits<int64_t>::max() - length_) return false;
  const int64_t missing = kv_pages_for(length_ + n, page_rows_) - static_cast<int64_t>(table_.size());
  return missing <= 0 || pool_->try_acquire(missing, table_);
}

void SequenceKv::advance(int64_t n) {
  CHECK(n >= 0 && n <= capacity() - length_, "rows are written where they are reserved");
  length_ += n;
}

void SequenceKv::release() {
  pool_->release(table_);
  table_.clear();
  length_ = 0;
}

}  // namespace ferrox
