#include "kv/lease.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kv/kv_layout.h"
#include "kv/paged_store.h"

namespace ferrox {

std::optional<KvLease> KvLease::take(PageGroups& groups, const KvTerms& terms, int64_t n_prompt, int64_t max_tokens,
                                     int64_t n_choices) {
  SequenceKv kv(groups, terms.page_rows);
  if (!kv.reserve_pages(choice_pages(terms, n_prompt, max_tokens, n_choices))) return std::nullopt;
  KvLease lease(std::move(kv), terms, n_prompt, n_prompt + max_tokens);
  lease.n_choices_ = n_choices;
  return lease;
}

std::optional<KvLease> KvLease::resume(PagedStore& store, PageGroups& groups, const KvTerms& terms,
                                       const PrefixMatch& match, int64_t n_prompt, int64_t max_tokens,
                                       int64_t n_choices) {
  CHECK(match.n_usable > 0 && match.n_usable < n_prompt, "a token is computed, or there would be no logits");
  const int64_t n_whole = match.n_usable / terms.page_rows;
  const int64_t n_shared = n_whole * terms.page_rows;
  const int64_t n_tail_rows = match.n_usable - n_shared;
  SequenceKv kv(groups, terms.page_rows);
  std::vector<PageTable> shared;
  for (const auto& pages : match.pages) shared.push_back(PageTable(pages).first(static_cast<size_t>(n_whole)));
  kv.adopt(shared, n_shared);
  if (!kv.reserve_pages(choice_pages(terms, n_prompt - n_shared, max_tokens, n_choices))) return std::nullopt;
  if (n_tail_rows > 0) {
    const std::span<const PageTable> tables = kv.cover(n_tail_rows);
    for (size_t kind = 0; kind < tables.size(); ++kind) {
      const int32_t lender = match.pages[kind].back();
      if (lender == kNoPage) continue;  // nothing reads those rows
      store.copy_rows(static_cast<int>(kind), lender, tables[kind].back(), static_cast<int32_t>(n_tail_rows));
    }
    kv.advance(n_tail_rows);
  }
  if (terms.has_state()) store.copy_state(match.state, kv.state_page());
  KvLease lease(std::move(kv), terms, n_prompt, n_prompt + max_tokens);
  lease.n_choices_ = n_choices;
  return lease;
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

void KvLease::end_rows() {
  kv_.advance(step_rows_);
  step_rows_ = 0;
}

void KvLease::slide() {
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

std::optional<KvLease> KvLease::fork(PagedStore& store, int64_t max_tokens) {
  CHECK(step_rows_ == 0 && kv_.length() >= n_prompt_, "a request forks between two steps, its prompt being done");
  const std::vector<int64_t> of_twin = fork_pages(*terms_, kv_.length(), max_tokens);
  std::vector<int64_t> top_up = fork_pages(*terms_, kv_.length(), n_positions_ - kv_.length());
  std::vector<int64_t> both = of_twin;
  for (size_t kind = 0; kind < terms_->n_attention_kinds(); ++kind) {
    const KindTable& table = kv_.kind(static_cast<int>(kind));
    const int64_t n_tail_pages = table.covered() / terms_->page_rows - kv_.length() / terms_->page_rows;
    top_up[kind] = std::max<int64_t>(0, top_up[kind] - table.n_spare() - n_tail_pages);
    both[kind] += top_up[kind];
  }
  if (terms_->has_state()) top_up.back() = 0;
  if (!kv_.fits(both)) return std::nullopt;
  CHECK(kv_.reserve_pages(top_up), "what was counted as free can be taken");
  std::optional<SequenceKv> twin = kv_.fork(store, of_twin);
  CHECK(twin, "what was counted as free can be taken");
  KvLease lease(std::move(*twin), *terms_, n_prompt_, kv_.length() + max_tokens);
  lease.slides_ = slides_;
  return lease;
}

// What was set aside goes back and is taken again at once: nobody else takes pages in between, on the one thread.
std::vector<KvLease> KvLease::fork_choices(PagedStore& store, int64_t n) {
  CHECK(kv_.length() == n_prompt_ && n <= n_choices_ - 1, "as many choices as were priced begin where the prompt ends");
  std::vector<int64_t> of_others = fork_pages(*terms_, n_prompt_, n_positions_ - n_prompt_);
  for (int64_t& pages : of_others) pages *= n_choices_ - 1;
  kv_.return_pages(of_others);
  n_choices_ = 1;
  std::vector<KvLease> twins;
  for (int64_t i = 0; i < n; ++i) {
    std::optional<KvLease> twin = fork(store, n_positions_ - n_prompt_);
    CHECK(twin, "what was set aside can be taken");
    twins.push_back(std::move(*twin));
  }
  return twins;
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
