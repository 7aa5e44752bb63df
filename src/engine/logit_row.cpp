#include "engine/logit_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/block_max.h"

namespace ferrox {
namespace {

double log_sum_exp(std::span<const float> logits, float max) {
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(logit - max);
  return max + std::log(sum);
}

}  // namespace

bool has_usable_logits(std::span<const float> logits) {
  constexpr float kMax = std::numeric_limits<float>::max();
  int n_bad = 0;
  int n_finite = 0;
  for (const float logit : logits) {
    n_bad += !(logit <= kMax);  // NaN fails every comparison
    n_finite += logit >= -kMax;
  }
  return n_bad == 0 && n_finite > 0;
}

int32_t argmax(std::span<const float> logits) {
  float best = logits[0];
  size_t at = 0;
  for (size_t begin = 0; begin < logits.size(); begin += kScanBlock) {
    const size_t n = std::min(kScanBlock, logits.size() - begin);
    if (!(block_max(logits.data() + begin, n) > best)) continue;
    for (size_t i = begin; i < begin + n; ++i) {
      if (logits[i] > best) best = logits[i], at = i;
    }
  }
  return static_cast<int32_t>(at);
}

LogprobReport row_logprobs(std::span<float> logits, int32_t chosen, int32_t n_top) {
  const double norm = log_sum_exp(logits, logits[static_cast<size_t>(argmax(logits))]);
  const auto logprob = [&](float logit) { return static_cast<float>(logit - norm); };
  LogprobReport report{{chosen, logprob(logits[static_cast<size_t>(chosen)])}, {}};
  if (n_top <= 0) return report;
  Candidates top(logits);
  top.keep_top(n_top);
  for (const Candidate& candidate : top.list()) report.top.push_back({candidate.id, logprob(candidate.logit)});
  return report;
}

LogprobReport list_logprobs(Candidates candidates, int32_t chosen, int32_t n_top) {
  candidates.sort_prefix(static_cast<size_t>(std::max(0, n_top)));
  candidates.softmax();
  LogprobReport report{{chosen, -std::numeric_limits<float>::infinity()}, {}};
  for (const Candidate& candidate : candidates.list()) {
    const float logprob = std::log(candidate.p);
    if (candidate.id == chosen) report.chosen.logprob = logprob;
    if (static_cast<int64_t>(report.top.size()) < n_top) report.top.push_back({candidate.id, logprob});
  }
  return report;
}

}  // namespace ferrox
