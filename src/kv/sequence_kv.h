// Which pages does one sequence hold, and how far are they filled? Its tables of all attention kinds, and its length.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kv/kind_table.h"
#include "kv/page_groups.h"
#include "kv/state_pages.h"

namespace ferrox {

class PagedStore;

/// Rows [0, length) are computed; what is reserved backs more. Every CHECK is a bug of the caller.
class SequenceKv {
 public:
  /// `groups` must outlive this.
  SequenceKv(PageGroups& groups, int32_t page_rows);
  SequenceKv(SequenceKv&&) noexcept = default;
  SequenceKv& operator=(SequenceKv&&) noexcept = default;

  int64_t length() const { return length_; }
  int64_t capacity() const;  ///< positions that every kind can back without recycling
  int n_kinds() const { return static_cast<int>(tables_.size()); }
  const KindTable& kind(int i) const { return tables_[static_cast<size_t>(i)]; }
  KindTable& kind(int i) { return tables_[static_cast<size_t>(i)]; }

  /// The page of its recurrent state; only where there is one.
  int32_t state_page() const { return state_->page(); }
  int64_t n_held() const;  ///< pages over all kinds

  /// Makes room for n more rows without recycling: takes every page that is missing, or none and gives false. What is
  /// held already counts, so after true the next n rows can't fail. n >= 0.
  bool reserve(int64_t n);

  /// Whether n[kind] pages of each kind are free.
  bool fits(std::span<const int64_t> n) const { return groups_->fits(n); }

  /// Takes n[kind] pages of each kind, or none and gives false.
  bool reserve_pages(std::span<const int64_t> n);

  /// Gives back n[kind] pages of each kind that back nothing (CHECKs that there are as many).
  void return_pages(std::span<const int64_t> n);

  /// The page tables once they back n more rows (CHECKs that pages are held); valid until this changes.
  std::span<const PageTable> cover(int64_t n);

  /// Rows [length, length + n) have been written where cover() said.
  void advance(int64_t n);

  /// Pages of one kind that lie wholly before `to` back later positions from now on.
  void recycle(int kind, int64_t to) { tables_[static_cast<size_t>(kind)].recycle(to); }

  /// Adopts n_positions that somebody else filled, a whole number of pages (CHECK), since shared pages are never
  /// written: pages[kind] are their pages of each kind, the first ones missing (below 0) where nothing reads them. Only
  /// in a sequence without rows.
  void adopt(std::span<const PageTable> pages, int64_t n_positions);

  /// A second sequence with the same rows: full pages are shared, the part-full tail is copied within `store`. It takes
  /// n_pages[kind] pages of its own, at least one where there is a tail, or nothing is taken and nothing given.
  std::optional<SequenceKv> fork(PagedStore& store, std::span<const int64_t> n_pages);

  /// Gives all pages back and forgets the rows; the destructor does the same.
  void release();

  void check_integrity() const;

 private:
  PageGroups* groups_;
  int32_t page_rows_;
  int64_t length_ = 0;
  std::vector<KindTable> tables_;
  std::optional<StatePages> state_;
  std::vector<PageTable> views_;
};

}  // namespace ferrox
