// Which tokens may still be chosen? The whole vocabulary as it came, until a sampler makes a list of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace ferrox {

/// The logit of a token that can't be chosen.
inline constexpr float kImpossible = -std::numeric_limits<float>::infinity();

struct Candidate {
  int32_t id;
  float logit;
  float p;  ///< valid after softmax()
};

/// Higher logits first, equal ones by id: a total order, so that a selection doesn't depend on how it is made.
inline bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/// One row of logits on its way through the samplers. Starts as the vocabulary ("dense": edits go to the row itself)
/// and becomes a list when a sampler asks for one; -infinity in the row never enters the list.
class Candidates {
 public:
  /// `logits`: [n_vocab], changed in place by add() and map() while dense.
  explicit Candidates(std::span<float> logits) : logits_(logits) {}

  /// Only these ids, without those of logit -infinity. Ids must be ascending and inside the vocabulary.
  Candidates(std::span<float> logits, std::span<const int32_t> ids);

  bool dense() const { return dense_; }
  std::span<float> logits() { return logits_; }

  /// The list, made from the vocabulary when there is none yet. Logits may be changed in it as long as their order
  /// stays; entries are removed by the methods below.
  std::vector<Candidate>& list();

  /// The k highest in rank order; k >= 1. From the dense row without a list of all.
  void keep_top(int64_t k);

  /// Brings the first n of the list into rank order, before all others; the rest stays in any order. At most n log n
  /// plus the list's length: whoever needs only the likely end shouldn't pay for a whole vocabulary.
  void sort_prefix(size_t n);

  /// Brings the list into rank order.
  void sort() { sort_prefix(list().size()); }

  /// Drops all but the first n of the list.
  void truncate(size_t n);

  /// Drops the first n of the list.
  void drop_front(size_t n);

  /// Drops those for which remove(candidate) holds; the others keep their order.
  template <class Remove>
  void remove_if(const Remove& remove);

  /// Fills p: sum 1 over the list, in the list's order. The list must not be empty.
  void softmax();

  /// The list's highest logit; the list must not be empty.
  float max_logit();

  /// Replaces the logit of `id` by edit(logit), if it may be chosen: the result stays finite and a banned token banned,
  /// so that no edit decides whether a token may be chosen. edit(logit) must not be NaN.
  template <class Edit>
  void edit(int32_t id, const Edit& edit);

 private:
  /// The farthest that an edit moves a logit: differences of two still fit a float.
  static constexpr float kFarthestLogit = std::numeric_limits<float>::max() / 4;

  template <class Edit>
  static float edited(float logit, const Edit& edit) {
    return std::isfinite(logit) ? std::clamp(edit(logit), -kFarthestLogit, kFarthestLogit) : logit;
  }

  void keep_top_of_row(size_t k);

  std::span<float> logits_;
  bool dense_ = true;
  size_t n_sorted_ = 0;  ///< the first of the list that are in rank order and before all others
  std::vector<Candidate> list_;
};

template <class Edit>
void Candidates::edit(int32_t id, const Edit& edit) {
  if (dense_) {
    float& logit = logits_[static_cast<size_t>(id)];
    logit = edited(logit, edit);
    return;
  }
  for (Candidate& candidate : list_) {
    if (candidate.id != id) continue;
    candidate.logit = edited(candidate.logit, edit);
    n_sorted_ = 0;
  }
}

template <class Remove>
void Candidates::remove_if(const Remove& remove) {
  std::vector<Candidate>& all = list();
  const auto prefix_end = all.begin() + static_cast<ptrdiff_t>(n_sorted_);
  n_sorted_ -= static_cast<size_t>(std::count_if(all.begin(), prefix_end, remove));
  std::erase_if(all, remove);
}

}  // namespace ferrox
