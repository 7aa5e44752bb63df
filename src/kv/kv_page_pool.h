// How many pages may all contiguous caches take together? A budget: it hands out a number, no memory.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace ferrox {

class KvPagePool {
 public:
  /// n_pages >= 0, page_rows >= 1 positions.
  KvPagePool(int64_t n_pages, int64_t page_rows);

  int64_t n_pages() const { return n_pages_; }
  int64_t n_held() const { return n_held_; }
  int64_t n_free() const { return n_pages_ - n_held_; }
  int64_t page_rows() const { return page_rows_; }

  /// Takes n pages, or none and gives false when fewer are free. n >= 0.
  bool try_acquire(int64_t n);

  /// Gives n pages back; more than are held is a bug of the caller.
  void release(int64_t n);

  /// Changes the number of pages. Refused with kInvalidArgument, naming the number held, when that is more; nothing
  /// changes then. Growing adds to what is free.
  Result<void> resize(int64_t n_pages);

 private:
  int64_t n_pages_;
  int64_t page_rows_;
  int64_t n_held_ = 0;
};

}  // namespace ferrox
