#include "engine/samplers/candidates.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "engine/block_max.h"

namespace ferrox {

Candidates::Candidates(std::span<float> logits, std::span<const int32_t> ids) : logits_(logits), dense_(false) {
  list_.reserve(ids.size());
  for (const int32_t id : ids) {
    const float logit = logits[static_cast<size_t>(id)];
    if (logit != kImpossible) list_.push_back({id, logit, 0.0f});
  }
}

std::vector<Candidate>& Candidates::list() {
  if (!dense_) return list_;
  list_.reserve(logits_.size());
  for (size_t id = 0; id < logits_.size(); ++id) {
    if (logits_[id] != kImpossible) list_.push_back({static_cast<int32_t>(id), logits_[id], 0.0f});
  }
  dense_ = false;
  return list_;
}

void Candidates::keep_top(int64_t k) {
  CHECK(k >= 1, "a selection keeps something");
  if (dense_ && static_cast<uint64_t>(k) < logits_.size() / 2) return keep_top_of_row(static_cast<size_t>(k));
  const size_t n_kept = std::min(list().size(), static_cast<size_t>(k));
  sort_prefix(n_kept);
  truncate(n_kept);
}

// k blocks have a maximum of at least the k-th highest maximum: what is below that isn't among the k best.
void Candidates::keep_top_of_row(size_t k) {
  std::vector<float> maxima;
  for (size_t begin = 0; begin < logits_.size(); begin += kScanBlock) {
    maxima.push_back(block_max(logits_.data() + begin, std::min(kScanBlock, logits_.size() - begin)));
  }
  float bar = kImpossible;
  if (k <= maxima.size()) {
    std::vector<float> ranked = maxima;
    const auto kth = ranked.begin() + static_cast<ptrdiff_t>(k - 1);
    std::nth_element(ranked.begin(), kth, ranked.end(), std::greater<>());
    bar = *kth;
  }
  for (size_t block = 0; block < maxima.size(); ++block) {
    if (maxima[block] < bar) continue;
    const size_t begin = block * kScanBlock;
    for (size_t id = begin; id < std::min(begin + kScanBlock, logits_.size()); ++id) {
      if (logits_[id] < bar || logits_[id] == kImpossible) continue;
      list_.push_back({static_cast<int32_t>(id), logits_[id], 0.0f});
    }
  }
  dense_ = false;
  sort_prefix(k);
  truncate(k);
}

void Candidates::sort_prefix(size_t n) {
  std::vector<Candidate>& all = list();
  n = std::min(n, all.size());
  if (n <= n_sorted_) return;
  const auto first = all.begin() + static_cast<ptrdiff_t>(n_sorted_);
  const auto end = all.begin() + static_cast<ptrdiff_t>(n);
  if (n < all.size()) std::nth_element(first, end, all.end(), ranks_before);
  std::sort(first, end, ranks_before);
  n_sorted_ = n;
}

void Candidates::truncate(size_t n) {
  list().resize(std::min(n, list().size()));
  n_sorted_ = std::min(n_sorted_, list_.size());
}

void Candidates::drop_front(size_t n) {
  std::vector<Candidate>& all = list();
  all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(n));
  n_sorted_ -= std::min(n_sorted_, n);
}

float Candidates::max_logit() {
  const std::vector<Candidate>& all = list();
  CHECK(!all.empty(), "some token may be chosen");
  if (n_sorted_ > 0) return all.front().logit;
  return std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.logit < b.logit; })
      ->logit;
}

void Candidates::softmax() {
  const float max = max_logit();
  double sum = 0.0;
  for (Candidate& candidate : list_) {
    candidate.p = std::exp(candidate.logit - max);
    sum += candidate.p;
  }
  for (Candidate& candidate : list_) candidate.p = static_cast<float>(candidate.p / sum);
}

}  // namespace ferrox
