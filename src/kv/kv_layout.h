// What does one page of KV memory hold, and what does it cost? The one place that knows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/kv_view.h"

namespace ferrox {

/// The layers that keep K and V, and how their rows are stored.
struct KvLayout {
  std::vector<KvLayerShape> layers;
  int32_t page_rows;  ///< positions of one page
  DType k_type;
  DType v_type;
};

/// Refuses, by name: element types that can't be stored, shapes that aren't positive, pages without rows or with more
/// than 65,536, rows too wide to address.
Result<void> validate_layout(const KvLayout& layout);

/// Bytes of one head's row of `n_elements`; for a valid layout.
int32_t kv_row_bytes(DType type, int n_elements);

/// Bytes of one page of every layer; saturates. The store is this many bytes times its pages, and admission asks
/// the same function.
uint64_t kv_page_bytes(const KvLayout& layout);

/// Pages that n_positions take: ceil(n_positions / page_rows). n_positions >= 0.
int64_t kv_pages_for(int64_t n_positions, int32_t page_rows);

/// The largest context of one sequence that `available_bytes` hold: whole pages, at most `trained_context`, rounded
/// down to a multiple of 256 unless it is below 256.
int64_t largest_context(const KvLayout& layout, uint64_t available_bytes, int64_t trained_context);

}  // namespace ferrox
