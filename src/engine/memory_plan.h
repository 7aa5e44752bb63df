// How many pages may the KV store have, and how long may a context be? Decided before anything is allocated.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "kv/kv_layout.h"

namespace ferrox {

/// Bytes that this process may use: FERROX_DEVICE_BUDGET_BYTES as given, else what the system and the cgroup leave,
/// less max(256 MiB, 5 %) for everything that isn't counted. Errors: a variable that isn't a number.
Result<uint64_t> device_budget_bytes();

struct MemoryQuestion {
  KvLayout layout;          ///< valid
  int64_t trained_context;  ///< positions
  int64_t context_length;   ///< asked for; 0: as much as there is
  int32_t n_parallel;       ///< most requests at once
  uint64_t kv_bytes;        ///< asked for; 0: half of what is left, at most n_parallel contexts
  uint64_t budget_bytes;
  uint64_t weight_bytes;
  uint64_t scratch_bytes;
};

struct MemoryPlan {
  int64_t context_length;  ///< most positions of one request
  int32_t n_pages;         ///< of the KV store
};

/// weights + scratch + n_pages * kv_page_bytes <= budget, or an error of code kMemoryBudget that shows every term and
/// the largest context that would fit. A context that is named gets its pages even when they are more than half.
Result<MemoryPlan> plan_memory(const MemoryQuestion& question);

}  // namespace ferrox
