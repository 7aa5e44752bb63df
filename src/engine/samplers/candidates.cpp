#include "engine/samplers/candidates.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ferrox {
namespace {

constexpr size_t kScanBlock = 64;  // floats whose maximum is compared at once: four vectors of AVX-512

float block_max(const float* values, size_t n) {
  float max = kImpossible;
  for (size_t i = 0; i < n; ++i) max = values[i] > max ? values[i] : max;
  return max;
}

}  // namespace

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

// One pass: a heap of the best k so far with the worst of them on top. Blocks whose maximum can't beat it are skipped;
// ids ascend, so an equal logit later in the row never displaces one that is held.
void Candidates::keep_top_of_row(size_t k) {
  list_.reserve(k + 1);
  float bar = kImpossible;
  for (size_t begin = 0; begin < logits_.size(); begin += kScanBlock) {
    const size_t n = std::min(kScanBlock, logits_.size() - begin);
    if (!(block_max(logits_.data() + begin, n) > bar)) continue;
    for (size_t id = begin; id < begin + n; ++id) {
      if (!(logits_[id] > bar)) continue;
      list_.push_back({static_cast<int32_t>(id), logits_[id], 0.0f});
      std::push_heap(list_.begin(), list_.end(), ranks_before);
      if (list_.size() <= k) continue;
      std::pop_heap(list_.begin(), list_.end(), ranks_before);
      list_.pop_back();
      bar = list_.front().logit;
    }
    if (list_.size() == k) bar = list_.front().logit;
  }
  std::sort_heap(list_.begin(), list_.end(), ranks_before);
  dense_ = false;
  n_sorted_ = list_.size();
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
