#include "kv/lease.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kv/kv_layout.h"

namespace ferrox {

std::optional<KvLease> KvLease::take(PageGroups& groups, const KvTerms& terms, int64_t n_prompt, int64_t max_tokens) {
  SequenceKv kv(groups, terms.page_rows);
  if (!kv.reserve_pages(lease_pages(terms, n_prompt, max_tokens))) return std::nullopt;
  return KvLease(std::move(kv), terms, n_prompt, n_prompt + max_tokens);
}

KvLease::KvLease(SequenceKv kv, const KvTerms& terms, int64_t n_prompt, int64_t n_positions)
    : kv_(std::move(kv)), terms_(&terms), n_prompt_(n_prompt), n_positions_(n_positions) {
  for (const int window : terms.windows) slides_.emplace_back(terms, window);
}

std::span<const PageTable> KvLease::begin_step(int64_t n_rows) {
  CHECK(n_rows <= terms_->chunk_rows && kv_.length() + n_rows <= n_positions_, "a step stays within what was priced");
  if (kv_.length() >= n_prompt_) slide_decode(kv_.length() + n_rows);
  step_rows_ = n_rows;
  return kv_.cover(n_rows);
}

void KvLease::end_step() {
  kv_.advance(step_rows_);
  step_rows_ = 0;
  if (kv_.length() <= n_prompt_) slide_prompt();
}

void KvLease::slide_decode(int64_t position) {
  for (int kind = 0; kind < kv_.n_kinds(); ++kind) {
    if (terms_->windows[static_cast<size_t>(kind)] == 0) continue;
    WindowSlide& slide = slides_[static_cast<size_t>(kind)];
    if (!slide.is_due(position)) continue;
    const KindTable& table = kv_.kind(kind);
    const SlideRange range = slide.decode_range(position, table.released(), table.locked());
    if (range.to > range.from) kv_.recycle(kind, range.to);
  }
}

void KvLease::slide_prompt() {
  for (int kind = 0; kind < kv_.n_kinds(); ++kind) {
    if (terms_->windows[static_cast<size_t>(kind)] == 0) continue;
    const KindTable& table = kv_.kind(kind);
    const SlideRange range =
        slides_[static_cast<size_t>(kind)].prompt_range(kv_.length(), table.released(), table.locked());
    if (range.to > range.from) kv_.recycle(kind, range.to);
  }
}

void KvLease::observe_anchor(int64_t length) {
  for (WindowSlide& slide : slides_) slide.observe_anchor(length);
}

// Full pages up to here are shared and never recycled, by either of the two. What each needs beyond them is the tail
// and all that it may hold past a prompt.
std::vector<int64_t> KvLease::missing_after_fork(int64_t n_positions) const {
  const int64_t n_rest = n_positions - kv_.length() / terms_->page_rows * terms_->page_rows;
  std::vector<int64_t> pages;
  for (const int window : terms_->windows) {
    const int64_t n_most = window == 0 ? n_rest : sliding_bound(*terms_, window) + 2 * terms_->page_rows;
    pages.push_back(std::max<int64_t>(1, kv_pages_for(std::min(n_rest, n_most), terms_->page_rows)));
  }
  return pages;
}

std::optional<KvLease> KvLease::fork(PagedStore& store, int64_t max_tokens) {
  CHECK(step_rows_ == 0 && kv_.length() >= n_prompt_, "a request forks between two steps, its prompt being done");
  const int64_t n_twin_positions = kv_.length() + max_tokens;
  const std::vector<int64_t> of_twin = missing_after_fork(n_twin_positions);
  std::vector<int64_t> top_up = missing_after_fork(n_positions_);
  std::vector<int64_t> both = of_twin;
  for (size_t kind = 0; kind < top_up.size(); ++kind) {
    const KindTable& table = kv_.kind(static_cast<int>(kind));
    const int64_t n_tail_pages = table.covered() / terms_->page_rows - kv_.length() / terms_->page_rows;
    top_up[kind] = std::max<int64_t>(0, top_up[kind] - table.n_spare() - n_tail_pages);
    both[kind] += top_up[kind];
  }
  if (!kv_.fits(both)) return std::nullopt;
  CHECK(kv_.reserve_pages(top_up), "what was counted as free can be taken");
  std::optional<SequenceKv> twin = kv_.fork(store, of_twin);
  CHECK(twin, "what was counted as free can be taken");
  KvLease lease(std::move(*twin), *terms_, n_prompt_, n_twin_positions);
  lease.slides_ = slides_;
  return lease;
}

void KvLease::check_integrity() const {
  kv_.check_integrity();
  for (int kind = 0; kind < kv_.n_kinds(); ++kind) {
    const int window = terms_->windows[static_cast<size_t>(kind)];
    const KindTable& table = kv_.kind(kind);
    CHECK(table.covered() >= kv_.length(), "every row has a page");
    CHECK(table.released() == 0 || table.released() <= std::max<int64_t>(0, kv_.length() + 1 - window),
          "the trailing window is owned");
  }
}

}  // namespace ferrox
