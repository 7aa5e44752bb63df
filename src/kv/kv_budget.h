// What does KV memory of a shape take at a context, and which context fits? Arithmetic over numbers, all of it
// saturating.
//
// This prices contiguous caches whose layers drop rows one after the other; paged storage has its own (kv_terms.h).
#pragma once

#include <cstdint>
#include <functional>

#include "kv/kv_layout.h"

namespace ferrox {

/// Elements of one position of one layer, by how its attention keeps K and V.
uint64_t elements_grouped(uint64_t n_kv_heads, uint64_t k_dim, uint64_t v_dim);
uint64_t elements_latent(uint64_t kv_lora_rank, uint64_t rope_dim);
uint64_t elements_expanded(uint64_t n_heads, uint64_t nope_dim, uint64_t rope_dim, uint64_t v_dim);

/// Bytes with every layer at all t positions.
uint64_t kv_full_bytes(const KvLayout& layout, int64_t t);

/// Bytes with windowed layers at the rows they keep after t positions. It swings with t.
uint64_t kv_resting_bytes(const KvLayout& layout, int64_t t);

/// The most there is on the way to t: windowed layers at their most rows, and one layer, the costliest, at its whole
/// history while it is being prefilled. Never falls as t grows; between resting and full.
uint64_t kv_peak_bytes(const KvLayout& layout, int64_t t);

/// The largest context whose `bytes` (which never fall with t) are at most available_bytes, by bisection; at most
/// `trained_context`, and rounded down to 256 unless it is below that or all of the trained one.
int64_t largest_context(const std::function<uint64_t(int64_t t)>& bytes, uint64_t available_bytes,
                        int64_t trained_context);

}  // namespace ferrox
