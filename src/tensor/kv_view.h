// Where do the K and V rows of one sequence lie? In pages of one layer's store, found through the sequence's table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace ferrox {

/// What one layer asks of KV memory; a model lists one per layer that attends.
struct KvLayerShape {
  int n_kv_heads;
  int k_dim;       ///< elements of one head's K row
  int v_dim;       ///< elements of one head's V row
  int window = 0;  ///< trailing positions it reads; 0: all of them
};

/// One layer's pages. K of page p, head h, row r starts at
///   k + ((p * n_kv_heads + h) * page_rows + r) * k_row_bytes
/// and V likewise: one head's rows of a page lie side by side.
struct KvLayerView {
  std::byte* k;
  std::byte* v;
  DType k_type;
  DType v_type;
  int page_rows;
  int n_kv_heads;
  int k_dim;
  int v_dim;
  int k_row_bytes;
  int v_row_bytes;

  std::byte* k_row(int32_t page, int head, int row) const { return k + row_index(page, head, row) * k_row_bytes; }
  std::byte* v_row(int32_t page, int head, int row) const { return v + row_index(page, head, row) * v_row_bytes; }

 private:
  int64_t row_index(int32_t page, int head, int row) const {
    return (static_cast<int64_t>(page) * n_kv_heads + head) * page_rows + row;
  }
};

/// A sequence's pages of one attention kind: position p lies in page table[p / page_rows], row p % page_rows.
using PageTable = std::span<const int32_t>;

}  // namespace ferrox
