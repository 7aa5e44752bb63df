// May this request run at all, and what must be set aside for it? Arithmetic on positions, pages and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "kv/kv_terms.h"

namespace ferrox {

/// What one request is measured against.
struct AdmissionLimits {
  int64_t context_length;      ///< most positions of one request
  const KvTerms& kv;           ///< the store, and what it charges
  int64_t default_max_tokens;  ///< for a request that names no limit
};

/// Everything a request can ever need.
struct Reservation {
  int64_t max_tokens;          ///< tokens it may generate, clamped to the context
  int64_t n_positions;         ///< prompt + max_tokens
  std::vector<int64_t> pages;  ///< of each attention kind
};

/// Prices a prompt of n_prompt tokens that asks for max_tokens: absent means the default, -1 the rest of the context;
/// what the context can't take is clamped. Errors, in this order: an empty prompt, max_tokens below -1, a prompt that
/// leaves no room for a token (kContextLength, `prompt is too long: N tokens > M maximum` with M the context), a sum
/// that no counter holds (kContextLength), more than the whole store holds (kMemoryBudget, with bytes and positions of
/// both sides).
Result<Reservation> price_request(const AdmissionLimits& limits, int64_t n_prompt, std::optional<int64_t> max_tokens);

}  // namespace ferrox
