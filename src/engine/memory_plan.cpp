#include "engine/memory_plan.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "base/machine.h"
#include "base/units.h"
#include "kv/contiguous_memory.h"
#include "kv/kv_budget.h"
#include "kv/paged_memory.h"

namespace ferrox {
namespace {

constexpr uint64_t kMinHeadroomBytes = uint64_t{256} << 20;
constexpr uint64_t kHeadroomShare = 20;  // 5 %: allocator, stacks, page tables, requests in flight
constexpr int64_t kMostPages = std::numeric_limits<int32_t>::max();
constexpr int kSnapshotsOfOne = 4;  ///< of the state, for each request that runs: a few turns of its conversation

/// What weights, scratch and tiers leave of the budget.
uint64_t left_for_kv(const MemoryQuestion& q) {
  const uint64_t taken = saturating_add(saturating_add(q.weight_bytes, q.scratch_bytes), q.tier_bytes);
  return q.budget_bytes > taken ? q.budget_bytes - taken : 0;
}

KvTerms terms_without_pages(const MemoryQuestion& q) {
  KvTerms terms = terms_of(q.layout);
  terms.chunk_rows = q.chunk_rows;
  return terms;
}

/// Bytes of one request of n positions, whatever part of them is prompt.
uint64_t request_bytes(const MemoryQuestion& q, int64_t n) {
  if (q.storage == KvStorage::kContiguous) return contiguous_bytes(q.layout, n, q.chunk_rows);
  const KvTerms terms = terms_without_pages(q);
  return bytes_of_pages(terms, lease_pages(terms, n, 0));
}

/// " + tiers 1.0 GiB", or nothing.
std::string tier_term(const MemoryQuestion& q, const char* sign) {
  return q.tier_bytes == 0 ? "" : fmt::format(" {} tiers {}", sign, format_bytes(q.tier_bytes));
}

Error does_not_fit(const MemoryQuestion& q, uint64_t kv_bytes, int64_t n_positions) {
  return make_error(
      ErrorCode::kMemoryBudget,
      "model doesn't fit: weights {} + KV {} ({} positions) + scratch {}{} > budget {}; the largest context "
      "that fits is {} positions",
      format_bytes(q.weight_bytes), format_bytes(kv_bytes), n_positions, format_bytes(q.scratch_bytes),
      tier_term(q, "+"), format_bytes(q.budget_bytes), largest_context(q));
}

/// A store that was given a size that nothing fits in, whatever the budget is.
Error store_is_too_small(const MemoryQuestion& q, int64_t n_positions, const char* what) {
  return make_error(ErrorCode::kMemoryBudget, "size of the KV store: expected at least {} for {}, found {}",
                    format_bytes(request_bytes(q, n_positions)), what, format_bytes(q.kv_bytes));
}

/// States take as many bytes as p pages of each attention kind, and no more than requests and their snapshots have use
/// for.
int64_t states_at(const MemoryQuestion& q, const KvTerms& terms, int64_t p) {
  const int64_t with_snapshots = q.kv_bytes > 0 ? kMostPages : q.n_parallel + int64_t{kSnapshotsOfOne} * q.n_parallel;
  const int64_t most = q.keeps_prefixes ? with_snapshots : q.n_parallel;
  if (terms.n_attention_kinds() == 0) return std::clamp<int64_t>(p, 1, most);
  const std::vector<int64_t> even(terms.n_attention_kinds(), p);
  const uint64_t n = bytes_of_pages(terms, even) / std::max<uint64_t>(terms.page_bytes.back(), 1);
  return std::clamp<int64_t>(static_cast<int64_t>(std::min(n, uint64_t{kMostPages})), 1, most);
}

/// Each kind gets p pages, but no fewer than one request of the context takes and, in a store that nobody gave a size,
/// no more than n_parallel do.
std::vector<int64_t> pages_at(const MemoryQuestion& q, const KvTerms& terms, const std::vector<int64_t>& of_one,
                              int64_t p) {
  const uint64_t n_requests = q.kv_bytes > 0 ? uint64_t{kMostPages} : static_cast<uint64_t>(q.n_parallel);
  std::vector<int64_t> pages;
  for (size_t kind = 0; kind < terms.n_attention_kinds(); ++kind) {
    const uint64_t of_all = saturating_mul(static_cast<uint64_t>(of_one[kind]), n_requests);
    const auto most = static_cast<int64_t>(std::min(of_all, uint64_t{kMostPages}));
    pages.push_back(std::clamp(p, std::min(of_one[kind], most), most));
  }
  if (terms.has_state()) pages.push_back(states_at(q, terms, p));
  return pages;
}

/// The most pages of room_bytes that requests of `context` positions have use for. Short requests take as many pages of
/// every kind, so kinds get equal numbers; a long one takes few of the sliding ones, so those stop growing first.
std::vector<int64_t> pages_within(const MemoryQuestion& q, const KvTerms& terms, int64_t context, uint64_t room_bytes) {
  const std::vector<int64_t> of_one = lease_pages(terms, context, 0);
  int64_t fits = 0;
  int64_t too_many = kMostPages + 1;
  while (too_many - fits > 1) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (bytes_of_pages(terms, pages_at(q, terms, of_one, middle)) <= room_bytes ? fits : too_many) = middle;
  }
  return pages_at(q, terms, of_one, fits);
}

/// Positions of one request that fit `bytes`, exactly.
int64_t context_within(const MemoryQuestion& q, int64_t most, uint64_t bytes) {
  int64_t fits = 0;
  int64_t too_long = most;
  if (request_bytes(q, most) <= bytes) return most;
  while (too_long - fits > 1) {
    const int64_t middle = fits + (too_long - fits) / 2;
    (request_bytes(q, middle) <= bytes ? fits : too_long) = middle;
  }
  return fits;
}

/// Bytes that the KV may take: as asked, or half of what is left, or what a named context needs.
uint64_t room_for_kv(const MemoryQuestion& q) {
  if (q.kv_bytes > 0) return q.kv_bytes;
  const uint64_t half = left_for_kv(q) / 2;
  return q.context_length > 0 ? std::max(half, request_bytes(q, q.context_length)) : half;
}

int64_t wanted_context(const MemoryQuestion& q) { return q.context_length > 0 ? q.context_length : q.trained_context; }

Result<MemoryPlan> plan_contiguous(const MemoryQuestion& q) {
  const int64_t context = context_within(q, wanted_context(q), room_for_kv(q));
  const int64_t wanted = q.context_length > 0 ? q.context_length : std::max<int64_t>(context, 1);
  const uint64_t bytes = contiguous_bytes(q.layout, wanted, q.chunk_rows);
  if (q.kv_bytes > 0 && bytes > q.kv_bytes) return store_is_too_small(q, wanted, "its context");
  if (context < wanted || bytes > left_for_kv(q)) return does_not_fit(q, bytes, wanted);
  MemoryPlan plan{wanted, {}, bytes, context};
  plan.terms.windows = {0};
  plan.terms.n_pages = {1};
  plan.terms.page_bytes = {bytes};
  plan.terms.page_rows = static_cast<int32_t>(std::min(wanted, kMostPages));
  plan.terms.chunk_rows = q.chunk_rows;
  return plan;
}

/// A context of more pages than there are numbers, which only a budget that no machine has leaves room for.
Result<void> check_page_numbers(const MemoryQuestion& q) {
  for (const int64_t n : lease_pages(terms_without_pages(q), q.context_length, 0)) {
    if (n <= kMostPages) continue;
    return make_error(ErrorCode::kMemoryBudget,
                      "context of {} positions: expected at most {} pages of {} positions, found {}", q.context_length,
                      kMostPages, q.layout.page_rows, n);
  }
  return {};
}

Result<MemoryPlan> plan_paged(const MemoryQuestion& q) {
  const uint64_t room = room_for_kv(q);
  const int64_t context = context_within(q, wanted_context(q), room);
  MemoryPlan plan{wanted_context(q), terms_without_pages(q), 0, 0};
  std::vector<int64_t> pages = pages_within(q, plan.terms, context, room);
  plan.kv_bytes = bytes_of_pages(plan.terms, pages);
  const bool has_named_context = q.context_length > 0 && q.kv_bytes == 0;
  if (has_named_context && context < q.context_length) return does_not_fit(q, room, q.context_length);
  if (context == 0 && q.kv_bytes > 0) return store_is_too_small(q, 1, "one page");
  if (context == 0 || plan.kv_bytes > left_for_kv(q)) {
    return does_not_fit(q, plan.kv_bytes, has_named_context ? q.context_length : std::max<int64_t>(context, 1));
  }
  TRY(check_page_numbers(q));
  plan.terms.n_pages.assign(pages.begin(), pages.end());
  const int64_t most = std::max(q.trained_context, q.context_length);
  plan.store_context = longest_request(plan.terms, most, most);
  if (q.context_length == 0) plan.context_length = plan.store_context;
  return plan;
}

std::string kind_name(int window) {
  if (window == kStateKind) return "recurrent state";
  return window == 0 ? "full attention" : fmt::format("sliding window {}", window);
}

void explain_store(const MemoryQuestion& q, const MemoryPlan& plan, std::vector<std::string>& lines) {
  for (size_t kind = 0; kind < plan.terms.n_pages.size(); ++kind) {
    if (q.storage == KvStorage::kContiguous) break;
    const auto n_pages = static_cast<uint64_t>(plan.terms.n_pages[kind]);
    const std::string unit =
        plan.terms.windows[kind] == kStateKind ? "" : fmt::format(" pages of {} positions", plan.terms.page_rows);
    lines.push_back(fmt::format("  {}: {}{}, {} each = {}", kind_name(plan.terms.windows[kind]), n_pages, unit,
                                format_bytes(plan.terms.page_bytes[kind]),
                                format_bytes(saturating_mul(n_pages, plan.terms.page_bytes[kind]))));
  }
}

}  // namespace

Result<uint64_t> device_budget_bytes(uint64_t given, const std::filesystem::path& root) {
  if (given > 0) return given;
  const char* variable = std::getenv("FERROX_DEVICE_BUDGET_BYTES");
  if (variable == nullptr || *variable == '\0') {
    const uint64_t available = available_memory_bytes(root);
    return available - std::min(available, std::max(kMinHeadroomBytes, available / kHeadroomShare));
  }
  uint64_t bytes = 0;
  const char* end = variable + std::strlen(variable);
  const auto [stopped_at, error] = std::from_chars(variable, end, bytes);
  if (error == std::errc() && stopped_at == end) return bytes;
  return make_error(ErrorCode::kInvalidArgument, "FERROX_DEVICE_BUDGET_BYTES: expected a number of bytes, found '{}'",
                    variable);
}

int64_t largest_context(const MemoryQuestion& q) {
  return largest_context([&q](int64_t t) { return request_bytes(q, t); }, left_for_kv(q), q.trained_context);
}

Result<MemoryPlan> plan_memory(const MemoryQuestion& q) {
  if (q.context_length < 0 || q.n_parallel < 1) {
    return make_error(ErrorCode::kInvalidArgument,
                      "expected a context of 0 or more and at least one request at once, found {} and {}",
                      q.context_length, q.n_parallel);
  }
  return q.storage == KvStorage::kContiguous ? plan_contiguous(q) : plan_paged(q);
}

std::vector<std::string> doubts_of_plan(const MemoryQuestion& q, const MemoryPlan& plan) {
  std::vector<std::string> doubts;
  if (plan.context_length > q.trained_context) {
    doubts.push_back(fmt::format("context {} is longer than the {} positions the model was trained for",
                                 plan.context_length, q.trained_context));
  }
  if (plan.store_context < plan.context_length) {
    doubts.push_back(
        fmt::format("context {}: the KV store holds requests of up to {} positions, longer ones are refused",
                    plan.context_length, plan.store_context));
  }
  return doubts;
}

std::vector<std::string> explain_plan(const MemoryQuestion& q, const MemoryPlan& plan) {
  const uint64_t left = left_for_kv(q);
  std::vector<std::string> lines = {
      fmt::format("budget {} - weights {} - scratch {}{} = {} for KV", format_bytes(q.budget_bytes),
                  format_bytes(q.weight_bytes), format_bytes(q.scratch_bytes), tier_term(q, "-"), format_bytes(left)),
      fmt::format("KV {} ({}): {}", format_bytes(plan.kv_bytes),
                  q.storage == KvStorage::kPaged ? "paged" : "contiguous",
                  q.kv_bytes > 0 ? "as asked for"
                                 : fmt::format("at most half of that, at most {} requests of {} positions",
                                               q.n_parallel, plan.context_length))};
  explain_store(q, plan, lines);
  lines.push_back(q.context_length > 0
                      ? fmt::format("context {}: as asked for; one request can hold {} positions", plan.context_length,
                                    plan.store_context)
                      : fmt::format("context {}: auto, the smaller of {} trained and {} that one request can hold",
                                    plan.context_length, q.trained_context, plan.store_context));
  lines.push_back(
      fmt::format("largest context that fits: {} of the {} positions trained", largest_context(q), q.trained_context));
  return lines;
}

}  // namespace ferrox
