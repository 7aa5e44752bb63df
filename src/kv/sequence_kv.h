// Which pages does one sequence hold, and how far are they filled? A lease that gives its pages back once.
#pragma once

#include <cstdint>
#include <vector>

#include "kv/page_pool.h"
#include "tensor/kv_view.h"

namespace ferrox {

/// The page table and the length of one sequence. Rows [0, length) are computed, [length, capacity) are reserved.
class SequenceKv {
 public:
  /// `pool` must outlive this.
  SequenceKv(PagePool& pool, int32_t page_rows);
  SequenceKv(SequenceKv&& other) noexcept;
  SequenceKv& operator=(SequenceKv&& other) noexcept;
  ~SequenceKv();

  int64_t length() const { return length_; }
  int64_t capacity() const { return static_cast<int64_t>(table_.size()) * page_rows_; }
  PageTable pages() const { return table_; }

  /// Makes room for n more rows: takes every page that is missing, or none and gives false. What is held already
  /// counts, so after true the next n rows can't fail. n >= 0.
  bool reserve(int64_t n);

  /// Rows [length, length + n) have been written. n must be reserved.
  void advance(int64_t n);

  /// Gives all pages back and forgets the rows; the destructor does the same.
  void release();

 private:
  PagePool* pool_;
  int32_t page_rows_;
  int64_t length_ = 0;
  std::vector<int32_t> table_;
};

}  // namespace ferrox
