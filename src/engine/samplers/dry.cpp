// DRY (don't repeat yourself): a token that would go on with a repetition is penalised by the repetition's length.
#include <algorithm>
#include <cmath>

#include "engine/samplers/samplers.h"

namespace ferrox {
namespace {

/// out[i]: how many tokens the run that ends at i (included) shares with the end of `context`, going backwards; at
/// most `limit`. The Z algorithm on the reversed sequence: linear, also when everything repeats.
std::vector<int64_t> suffix_matches(std::span<const int32_t> context, int64_t limit) {
  const auto n = static_cast<int64_t>(context.size());
  const auto reversed = [&](int64_t i) { return context[static_cast<size_t>(n - 1 - i)]; };
  std::vector<int64_t> z(context.size(), 0);
  int64_t left = 0;
  int64_t right = 0;  // reversed[left, right) equals reversed[0, right - left)
  for (int64_t i = 1; i < n; ++i) {
    int64_t length = i < right ? std::min(right - i, z[static_cast<size_t>(i - left)]) : 0;
    while (i + length < n && reversed(length) == reversed(i + length)) ++length;
    z[static_cast<size_t>(i)] = length;
    if (i + length > right) left = i, right = i + length;
  }
  std::vector<int64_t> out(context.size(), 0);
  for (int64_t i = 1; i < n; ++i) out[static_cast<size_t>(n - 1 - i)] = std::min(limit, z[static_cast<size_t>(i)]);
  return out;
}

/// The penalty of extending a repetition of `length` tokens; +infinity where the power leaves float's range.
float penalty(int64_t length, const DryParams& params) {
  return params.multiplier * std::pow(params.base, static_cast<float>(length - params.allowed_length));
}

}  // namespace

void apply_dry(Candidates& candidates, std::span<const int32_t> context, int64_t max_repeat, const DryParams& params,
               const std::function<bool(int32_t)>& is_breaker) {
  if (params.multiplier == 0.0f || params.base < 1.0f) return;
  if (max_repeat < params.allowed_length || static_cast<int64_t>(context.size()) <= params.allowed_length) return;
  const std::vector<int64_t> matches = suffix_matches(context, max_repeat);
  std::unordered_map<int32_t, int64_t> longest;  // next token -> length of the repetition it would extend
  for (size_t i = 0; i + 1 < context.size(); ++i) {
    if (matches[i] < params.allowed_length) continue;
    int64_t& length = longest[context[i + 1]];
    length = std::max(length, matches[i]);
  }
  for (const auto& [id, length] : longest) {
    if (is_breaker(id)) continue;
    candidates.edit(id, [&, n = length](float logit) { return logit - penalty(n, params); });
  }
}

}  // namespace ferrox
