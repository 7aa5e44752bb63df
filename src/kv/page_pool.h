// Which pages of one attention kind are free, and how many hold each of the others? Whole numbers only: no memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ferrox {

/// A page group: one page in every layer of an attention kind, known by its number, with a count of holders. At zero
/// it is free and its number is given out again with a fresh count. Pages given back last are given out first, so that
/// memory which was touched once is used again before more is. Every CHECK is a bug of the caller.
class PagePool {
 public:
  explicit PagePool(int32_t n_pages);

  int32_t n_pages() const { return n_pages_; }
  int32_t n_free() const { return n_pages_ - n_held(); }
  int32_t n_held() const { return static_cast<int32_t>(n_holders_.size() - free_.size()); }

  /// Appends n pages to `table`, each with one holder, or does nothing and gives false when fewer are free. n >= 0.
  bool try_acquire(int64_t n, std::vector<int32_t>& table);

  /// One more holder for each of `pages`; CHECKs that somebody holds them.
  void retain(std::span<const int32_t> pages);

  /// One holder less for each of `pages`; CHECKs that somebody holds them.
  void release(std::span<const int32_t> pages);

  /// Holders of a page; 0: it is free.
  int32_t n_holders(int32_t page) const;

  /// CHECKs that every page is free or held, and that free ones are free once.
  void check_integrity() const;

 private:
  int32_t& holders(int32_t page);
  int32_t take_one();

  int32_t n_pages_;
  std::vector<int32_t> free_;       ///< given back; those that were never given out follow n_holders_
  std::vector<int32_t> n_holders_;  ///< of each page that was ever given out: the books grow with what is used
};

}  // namespace ferrox
