// Which pages does one sequence hold of one attention kind, and which positions do they back?
//
//   positions  0 ........ released ........ locked ... | table ends .......... capacity
//   table      stale      (recycled: the page backs a  | spare: held, backs
//              entries    later position as well)      | nothing yet
//
// Locked positions lie in pages that others read too: they are never written nor recycled.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kv/page_pool.h"
#include "tensor/kv_view.h"

namespace ferrox {

/// A page with the same rows as entry `index` of a table.
struct PageDuplicate {
  int64_t index;
  int32_t page;
};

/// Holds each of its pages once, however many places of the table name it. Every CHECK is a bug of the caller.
class KindTable {
 public:
  /// `pool` must outlive this.
  KindTable(PagePool& pool, int32_t page_rows);
  KindTable(KindTable&& other) noexcept;
  KindTable& operator=(KindTable&& other) noexcept;
  ~KindTable();

  /// Entry i backs positions [i * page_rows, (i + 1) * page_rows). Entries before released() are stale.
  PageTable pages() const { return table_; }

  /// Positions that the table backs, and those that it can back with what is held.
  int64_t covered() const { return static_cast<int64_t>(table_.size()) * page_rows_; }
  int64_t capacity() const { return static_cast<int64_t>(table_.size() + spare_.size()) * page_rows_; }
  int64_t n_held() const { return static_cast<int64_t>(held_.size()); }
  int64_t n_spare() const { return static_cast<int64_t>(spare_.size()); }
  int64_t released() const { return released_; }
  int64_t locked() const { return locked_; }

  /// Pages missing for positions [0, n_positions) when nothing is recycled.
  int64_t n_missing(int64_t n_positions) const;

  /// Takes n more pages, or none and gives false.
  bool reserve_pages(int64_t n);

  /// Gives back n spare pages (CHECKs that there are as many).
  void return_pages(int64_t n);

  /// The table backs [0, n_positions); CHECKs that pages for it are held.
  void cover(int64_t n_positions);

  /// Pages that lie wholly in [max(released, locked), to) are free to back later positions of this sequence; those that
  /// the prefix tree keeps are given up instead.
  void recycle(int64_t to);

  /// Becomes a second holder of `pages`, which somebody else filled, as positions [0, n) of an empty table. The first
  /// ones may be missing (below 0): nothing reads those positions any more.
  void adopt(std::span<const int32_t> pages);

  /// Entries of the table that somebody else has filled with the same rows: those pages take the place of its own.
  void replace(std::span<const PageDuplicate> duplicates);

  /// Pages of positions [from, to) that are live, with `none` in place of all others: one for each page of `length`.
  std::vector<int32_t> live_pages(int64_t length, int64_t from, int64_t to, int32_t none) const;

  /// The first n_shared pages of `from`, live ones held by both, in an empty table. Neither recycles them any more.
  void share(KindTable& from, int64_t n_shared);

  /// Gives every page back and forgets the positions; the destructor does the same.
  void release();

  /// CHECKs that each live entry's page is held, that no two are the same, and that all else held is spare.
  void check_integrity() const;

 private:
  void give_up(std::vector<int32_t> pages);

  PagePool* pool_;
  int32_t page_rows_;
  std::vector<int32_t> table_;
  std::vector<int32_t> held_;   ///< each page of this sequence, once
  std::vector<int32_t> spare_;  ///< held pages that back nothing that is read; the last is used next
  int64_t released_ = 0;        ///< positions before it are recycled
  int64_t locked_ = 0;          ///< positions before it lie in shared pages
};

}  // namespace ferrox
