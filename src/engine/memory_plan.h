// How large may the KV store be, and how long a context? Decided before anything is allocated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "kv/kv_layout.h"
#include "kv/kv_terms.h"

namespace ferrox {

/// How requests keep their rows.
enum class KvStorage {
  kPaged,       ///< many requests share pages
  kContiguous,  ///< one request at a time, one piece of memory per layer
};

/// Bytes that this process may use: `given` when it isn't 0, else FERROX_DEVICE_BUDGET_BYTES as given, else what the
/// system and the cgroup leave, less max(256 MiB, 5 %) for everything that isn't counted. Errors: a variable that
/// isn't a number. `root`: a folder that holds proc/ and sys/.
Result<uint64_t> device_budget_bytes(uint64_t given = 0, const std::filesystem::path& root = "/");

struct MemoryQuestion {
  KvLayout layout;  ///< valid
  KvStorage storage = KvStorage::kPaged;
  int64_t trained_context;  ///< positions
  int64_t context_length;   ///< asked for; 0: as much as there is
  int32_t n_parallel;       ///< most requests at once
  int64_t chunk_rows = 1;   ///< most rows of one request in a step
  uint64_t kv_bytes;        ///< asked for; 0: half of what is left, at most n_parallel contexts
  uint64_t budget_bytes;
  uint64_t weight_bytes;
  uint64_t scratch_bytes;
  uint64_t tier_bytes = 0;     ///< of prefixes in host memory, and of copies that wait for the disk
  bool keeps_prefixes = true;  ///< else nobody takes snapshots of states
};

struct MemoryPlan {
  int64_t context_length;  ///< most positions of one request
  KvTerms terms;           ///< of the store, or of the one slot of contiguous storage
  uint64_t kv_bytes;       ///< of the whole store
  int64_t
      store_context;  ///< positions that one request is sure to hold in the store, at most those trained or asked for
};

/// weights + scratch + tiers + KV <= budget, or an error of code kMemoryBudget that shows every term and the largest
/// context that would fit. A context that is named gets its pages even when they are more than half.
Result<MemoryPlan> plan_memory(const MemoryQuestion& question);

/// The largest context of one request that weights and scratch leave room for; at most the trained one.
int64_t largest_context(const MemoryQuestion& question);

/// What a plan allows that its user may not expect: positions beyond the trained ones, a store for less than a context.
std::vector<std::string> doubts_of_plan(const MemoryQuestion& question, const MemoryPlan& plan);

/// Every term of a plan, one a line, so that a person can redo the arithmetic.
std::vector<std::string> explain_plan(const MemoryQuestion& question, const MemoryPlan& plan);

}  // namespace ferrox
