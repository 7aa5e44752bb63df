#include "engine/memory_plan.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "base/machine.h"
#include "base/units.h"

namespace ferrox {
namespace {

constexpr uint64_t kMinHeadroomBytes = uint64_t{256} << 20;
constexpr uint64_t kHeadroomShare = 20;  // 5 %: allocator, stacks, page tables, requests in flight

/// What weights and scratch leave of the budget.
uint64_t left_for_kv(const MemoryQuestion& q) {
  const uint64_t taken = saturating_add(q.weight_bytes, q.scratch_bytes);
  return q.budget_bytes > taken ? q.budget_bytes - taken : 0;
}

/// Pages of `available_bytes`; a model without KV has as many as there are numbers for.
uint64_t pages_in(const MemoryQuestion& q, uint64_t available_bytes) {
  const uint64_t page_bytes = kv_page_bytes(q.layout);
  return page_bytes == 0 ? std::numeric_limits<int32_t>::max() : available_bytes / page_bytes;
}

Error does_not_fit(const MemoryQuestion& q, uint64_t n_pages) {
  return make_error(
      ErrorCode::kMemoryBudget,
      "model doesn't fit: weights {} + KV {} ({} positions) + scratch {} > budget {}; the largest context "
      "that fits is {} positions",
      format_bytes(q.weight_bytes), format_bytes(saturating_mul(n_pages, kv_page_bytes(q.layout))),
      saturating_mul(n_pages, static_cast<uint64_t>(q.layout.page_rows)), format_bytes(q.scratch_bytes),
      format_bytes(q.budget_bytes), largest_context(q.layout, left_for_kv(q), q.trained_context));
}

/// Pages of a store that nobody gave a size.
uint64_t default_pages(const MemoryQuestion& q, uint64_t n_context_pages) {
  const uint64_t all_contexts = saturating_mul(n_context_pages, static_cast<uint64_t>(q.n_parallel));
  const uint64_t half = std::min(all_contexts, pages_in(q, left_for_kv(q) / 2));
  return q.context_length > 0 ? std::max(half, n_context_pages) : half;
}

}  // namespace

Result<uint64_t> device_budget_bytes() {
  const char* given = std::getenv("FERROX_DEVICE_BUDGET_BYTES");
  if (given == nullptr || *given == '\0') {
    const uint64_t available = available_memory_bytes();
    return available - std::min(available, std::max(kMinHeadroomBytes, available / kHeadroomShare));
  }
  uint64_t bytes = 0;
  const char* end = given + std::strlen(given);
  const auto [stopped_at, error] = std::from_chars(given, end, bytes);
  if (error == std::errc() && stopped_at == end) return bytes;
  return make_error(ErrorCode::kInvalidArgument, "FERROX_DEVICE_BUDGET_BYTES: expected a number of bytes, found '{}'",
                    given);
}

Result<MemoryPlan> plan_memory(const MemoryQuestion& q) {
  if (q.context_length < 0 || q.n_parallel < 1) {
    return make_error(ErrorCode::kInvalidArgument,
                      "expected a context of 0 or more and at least one request at once, found {} and {}",
                      q.context_length, q.n_parallel);
  }
  const int64_t wanted_context = q.context_length > 0 ? q.context_length : q.trained_context;
  const auto n_context_pages = static_cast<uint64_t>(kv_pages_for(wanted_context, q.layout.page_rows));
  uint64_t n_pages = q.kv_bytes > 0 ? pages_in(q, q.kv_bytes) : default_pages(q, n_context_pages);
  n_pages = std::min(n_pages, static_cast<uint64_t>(std::numeric_limits<int32_t>::max()));
  if (n_pages == 0) return does_not_fit(q, 1);
  if (n_pages > pages_in(q, left_for_kv(q))) return does_not_fit(q, n_pages);
  const auto store_positions = static_cast<int64_t>(n_pages) * q.layout.page_rows;
  const int64_t context = q.context_length > 0 ? q.context_length : std::min(q.trained_context, store_positions);
  return MemoryPlan{context, static_cast<int32_t>(n_pages)};
}

}  // namespace ferrox
