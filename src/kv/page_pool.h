// Which pages of the KV store are free? Whole numbers only: the pool hands out page numbers, it owns no memory.
#pragma once

#include <cstdint>
#include <vector>

namespace ferrox {

/// Page p stands for page p of every layer of one attention kind. Pages given back last are given out first, so
/// that memory which was touched once is used again before more is.
class PagePool {
 public:
  explicit PagePool(int32_t n_pages);

  int32_t n_pages() const { return static_cast<int32_t>(held_.size()); }
  int32_t n_free() const { return static_cast<int32_t>(free_.size()); }
  int32_t n_held() const { return n_pages() - n_free(); }

  /// Appends n pages to `table`, or does nothing and gives false when fewer are free. n >= 0.
  bool try_acquire(int64_t n, std::vector<int32_t>& table);

  /// Gives every page of `pages` back. A page that isn't held is a bug of the caller.
  void release(const std::vector<int32_t>& pages);

  /// Fails loudly unless free and held pages are exactly all pages, each once.
  void check_integrity() const;

 private:
  std::vector<int32_t> free_;
  std::vector<bool> held_;
};

}  // namespace ferrox
