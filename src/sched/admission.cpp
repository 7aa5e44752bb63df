#include "sched/admission.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "kv/kv_layout.h"

namespace ferrox {
namespace {

constexpr int64_t kRestOfContext = -1;

Result<void> check_prompt(const AdmissionLimits& limits, int64_t n_prompt, int64_t max_tokens) {
  if (n_prompt <= 0) return make_error(ErrorCode::kInvalidArgument, "prompt: expected at least one token, found none");
  if (max_tokens < kRestOfContext) {
    return make_error(ErrorCode::kInvalidArgument, "max_tokens: expected -1 or more, found {}", max_tokens);
  }
  if (n_prompt >= limits.context_length) {
    return make_error(ErrorCode::kContextLength, "prompt is too long: {} tokens > {} maximum", n_prompt,
                      n_prompt > limits.context_length ? limits.context_length : limits.context_length - 1);
  }
  if (max_tokens > std::numeric_limits<int64_t>::max() - n_prompt) {
    return make_error(ErrorCode::kContextLength, "prompt of {} tokens + max_tokens {} overflows", n_prompt, max_tokens);
  }
  return {};
}

Error too_large(const AdmissionLimits& limits, const Reservation& needed) {
  return make_error(
      ErrorCode::kMemoryBudget,
      "request is too large for the KV store: estimated {} bytes > limit {} bytes ({} positions > {} positions)",
      saturating_mul(static_cast<uint64_t>(needed.n_pages), limits.page_bytes),
      saturating_mul(static_cast<uint64_t>(limits.n_pages), limits.page_bytes), needed.n_positions,
      saturating_mul(static_cast<uint64_t>(limits.n_pages), static_cast<uint64_t>(limits.page_rows)));
}

}  // namespace

Result<Reservation> price_request(const AdmissionLimits& limits, int64_t n_prompt, std::optional<int64_t> max_tokens) {
  const int64_t asked = max_tokens.value_or(limits.default_max_tokens);
  TRY(check_prompt(limits, n_prompt, asked));
  const int64_t room = limits.context_length - n_prompt;
  Reservation needed{};
  needed.max_tokens = asked == kRestOfContext ? room : std::min(asked, room);
  needed.n_positions = n_prompt + needed.max_tokens;
  needed.n_pages = kv_pages_for(needed.n_positions, limits.page_rows);
  if (needed.n_pages > limits.n_pages) return too_large(limits, needed);
  return needed;
}

}  // namespace ferrox
