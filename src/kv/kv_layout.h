// What does one page of KV memory hold, and what does it cost? The one place that knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/attention_kinds.h"
#include "tensor/dtype.h"
#include "tensor/kv_view.h"

namespace ferrox {

/// The layers that keep K and V, and how their rows are stored.
struct KvLayout {
  std::vector<KvLayerShape> layers;
  int32_t page_rows;  ///< positions of one page
  DType k_type;
  DType v_type;
  int64_t state_floats = 0;  ///< of one sequence's recurrent state; 0: none. Then the last kind's pages are states
};

/// Refuses, by name: element types that can't be stored, rows that a block type doesn't divide, shapes that aren't
/// positive, pages without rows or with more than 65,536, rows too wide to address.
Result<void> validate_layout(const KvLayout& layout);

/// The element types by the names users write: "f16, bf16, ... or turbo4".
std::string kv_type_names();

/// The type of a name; an unknown one is refused with the list.
Result<DType> parse_kv_type(std::string_view name);

/// Bytes of one head's row of `n_elements`; for a valid layout.
int32_t kv_row_bytes(DType type, int n_elements);

/// Bytes of one position's K and V of all heads of one layer.
uint64_t kv_position_bytes(const KvLayerShape& shape, DType k_type, DType v_type);

/// Bytes of one page of every layer of each attention kind, then of a state if there is one; saturates. A kind's store
/// is this many bytes times its pages, and admission asks the same function.
std::vector<uint64_t> kv_page_bytes_of_kinds(const KvLayout& layout);

/// Bytes of one page of every layer, of all kinds.
uint64_t kv_page_bytes(const KvLayout& layout);

/// Pages that n_positions take: ceil(n_positions / page_rows). n_positions >= 0.
int64_t kv_pages_for(int64_t n_positions, int32_t page_rows);

}  // namespace ferrox
