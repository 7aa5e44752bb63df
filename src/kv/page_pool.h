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

  /// The prefix tree becomes a holder of a page that somebody holds, once, and stops being one.
  void keep(int32_t page);
  void drop(int32_t page);
  bool is_kept(int32_t page) const { return is_kept_[static_cast<size_t>(page)]; }

  /// Pages that the tree keeps, and those of them that nobody else holds: what eviction can free.
  int32_t n_kept() const { return n_kept_; }
  int32_t n_idle() const { return n_idle_; }

  /// CHECKs that every page is free or held, and that free ones are free once.
  void check_integrity() const;

 private:
  int32_t& holders(int32_t page);
  int32_t take_one();

  int32_t n_pages_;
  std::vector<int32_t> free_;       ///< given back; those that were never given out follow n_holders_
  std::vector<int32_t> n_holders_;  ///< of each page that was ever given out: the books grow with what is used
  std::vector<bool> is_kept_;       ///< likewise
  int32_t n_kept_ = 0;
  int32_t n_idle_ = 0;
};

}  // namespace ferrox
