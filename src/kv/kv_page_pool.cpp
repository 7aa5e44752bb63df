#include "kv/kv_page_pool.h"

#include "base/check.h"

namespace ferrox {

KvPagePool::KvPagePool(int64_t n_pages, int64_t page_rows) : n_pages_(n_pages), page_rows_(page_rows) {
  CHECK(n_pages >= 0 && page_rows >= 1, "a pool has a number of pages, and a page has rows");
}

bool KvPagePool::try_acquire(int64_t n) {
  CHECK(n >= 0, "a number of pages is not negative");
  if (n > n_free()) return false;
  n_held_ += n;
  return true;
}

void KvPagePool::release(int64_t n) {
  CHECK(n >= 0 && n <= n_held_, "pages are given back once");
  n_held_ -= n;
}

Result<void> KvPagePool::resize(int64_t n_pages) {
  if (n_pages < n_held_) {
    return make_error(ErrorCode::kInvalidArgument,
                      "KV page pool: expected at least the {} pages that are held, found {}", n_held_, n_pages);
  }
  n_pages_ = n_pages;
  return {};
}

}  // namespace ferrox
