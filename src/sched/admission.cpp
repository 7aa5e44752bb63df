#include "sched/admission.h"

#include <algorithm>
#include <limits>

namespace ferrox {
namespace {

constexpr int64_t kRestOfContext = -1;

Result<void> check_prompt(const AdmissionLimits& limits, int64_t n_prompt, int64_t max_tokens) {
  if (n_prompt <= 0) return make_error(ErrorCode::kInvalidArgument, "prompt: expected at least one token, found none");
  if (max_tokens < kRestOfContext) {
    return make_error(ErrorCode::kInvalidArgument, "max_tokens: expected -1 or more, found {}", max_tokens);
  }
  if (n_prompt >= limits.context_length) {
    // Clients match on these words and take the second number for the context, so it is the context also for a prompt
    // that just fills it and leaves no room for a token.
    return make_error(ErrorCode::kContextLength, "prompt is too long: {} tokens > {} maximum", n_prompt,
                      limits.context_length);
  }
  if (max_tokens > std::numeric_limits<int64_t>::max() - n_prompt) {
    return make_error(ErrorCode::kContextLength, "prompt of {} tokens + max_tokens {} overflows", n_prompt, max_tokens);
  }
  return {};
}

Error too_large(const KvTerms& kv, int64_t n_prompt, const Reservation& needed) {
  const std::vector<int64_t> all(kv.n_pages.begin(), kv.n_pages.end());
  return make_error(
      ErrorCode::kMemoryBudget,
      "request is too large for the KV store: estimated {} bytes > limit {} bytes ({} positions > {} positions)",
      bytes_of_pages(kv, needed.pages), bytes_of_pages(kv, all), needed.n_positions,
      longest_request(kv, n_prompt, needed.n_positions));
}

}  // namespace

Result<Reservation> price_request(const AdmissionLimits& limits, int64_t n_prompt, std::optional<int64_t> max_tokens) {
  const int64_t asked = max_tokens.value_or(limits.default_max_tokens);
  TRY(check_prompt(limits, n_prompt, asked));
  const int64_t room = limits.context_length - n_prompt;
  Reservation needed{};
  needed.max_tokens = asked == kRestOfContext ? room : std::min(asked, room);
  needed.n_positions = n_prompt + needed.max_tokens;
  needed.pages = lease_pages(limits.kv, n_prompt, needed.max_tokens);
  if (!fits_pages(needed.pages, limits.kv.n_pages)) return too_large(limits.kv, n_prompt, needed);
  return needed;
}

}  // namespace ferrox
