#include "kv/prefix_import.h"

#include <algorithm>

#include "base/check.h"
#include "kv/kv_layout.h"

namespace ferrox {
namespace {

int64_t first_wanted(const KvTerms& terms, size_t kind, int64_t n, PrefixExtent extent) {
  if (terms.windows[kind] == 0) return 0;
  return extent == PrefixExtent::kAll ? first_page_read(terms, kind, n) : kv_pages_for(n, terms.page_rows);
}

/// Whether all tokens of page i are on the kept path, and a page of the kind is there.
bool is_kept(const KeptPrefix& kept, const KvTerms& terms, size_t kind, int64_t i, int64_t n_tokens) {
  const int64_t end = std::min(n_tokens, (i + 1) * terms.page_rows);
  return end <= kept.n_tokens && kept.pages[kind][static_cast<size_t>(i)] != kNoPage;
}

std::vector<std::vector<int32_t>> all_pages(const KeptPrefix& kept) {
  std::vector<std::vector<int32_t>> pages = kept.pages;
  if (kept.states.empty()) return pages;
  for (std::vector<int32_t>& states = pages.emplace_back(); const StateSnapshot& state : kept.states) {
    states.push_back(state.page);
  }
  return pages;
}

}  // namespace

int64_t first_page_read(const KvTerms& terms, size_t kind, int64_t n) {
  const int64_t first = std::max<int64_t>(0, n + 1 - terms.windows[kind]);  // row n itself is about to be computed
  return first >= n ? kv_pages_for(n, terms.page_rows) : first / terms.page_rows;
}

std::vector<PrefixGap> pages_behind(const KvTerms& terms, int64_t n, PrefixExtent extent) {
  const int64_t n_pages = kv_pages_for(n, terms.page_rows);
  std::vector<PrefixGap> pages;
  for (const bool is_full : {true, false}) {
    for (size_t kind = 0; kind < terms.n_attention_kinds(); ++kind) {
      if ((terms.windows[kind] == 0) != is_full) continue;
      for (int64_t i = first_wanted(terms, kind, n, extent); i < n_pages; ++i) {
        pages.push_back({static_cast<int>(kind), i});
      }
    }
  }
  if (terms.has_state() && extent == PrefixExtent::kAll) {
    pages.push_back({static_cast<int>(terms.n_attention_kinds()), n_pages - 1});
  }
  return pages;
}

std::vector<PrefixGap> prefix_gaps(const PrefixCache& cache, std::string_view space, std::span<const int32_t> tokens,
                                   PrefixExtent extent) {
  const KvTerms& terms = cache.terms();
  const KeptPrefix kept = cache.tree().kept(space, tokens);
  const auto n = static_cast<int64_t>(tokens.size());
  std::vector<PrefixGap> gaps = pages_behind(terms, n, extent);
  std::erase_if(gaps, [&](const PrefixGap& gap) {
    const auto kind = static_cast<size_t>(gap.kind);
    if (kind == terms.n_attention_kinds()) return cache.tree().has_state(space, tokens);
    return is_kept(kept, terms, kind, gap.page, n);
  });
  return gaps;
}

PrefixImport::PrefixImport(PrefixCache& cache, std::string_view space, std::span<const int32_t> tokens,
                           std::span<const PrefixGap> gaps)
    : cache_(cache),
      space_(space),
      tokens_(tokens),
      gaps_(gaps.begin(), gaps.end()),
      kept_(cache.tree().kept(space, tokens)),
      hold_(cache.groups(), all_pages(kept_)),
      taken_(static_cast<size_t>(cache.groups().n_kinds())) {
  std::vector<int64_t> n(taken_.size(), 0);
  for (const PrefixGap& gap : gaps_) ++n[static_cast<size_t>(gap.kind)];
  has_pages_ = cache.make_room(n);
  for (size_t kind = 0; has_pages_ && kind < n.size(); ++kind) {
    CHECK(cache.groups().pool(static_cast<int>(kind)).try_acquire(n[kind], taken_[kind]), "room was made");
  }
  std::vector<size_t> n_given(n.size(), 0);
  for (const PrefixGap& gap : gaps_) {
    const auto kind = static_cast<size_t>(gap.kind);
    page_of_gap_.push_back(has_pages_ ? taken_[kind][n_given[kind]++] : kNoPage);
  }
}

PrefixImport::~PrefixImport() {
  for (size_t kind = 0; kind < taken_.size(); ++kind) {
    cache_.groups().pool(static_cast<int>(kind)).release(taken_[kind]);
  }
}

std::vector<std::span<std::byte>> PrefixImport::bytes_of(size_t i) const {
  return cache_.store().pieces(gaps_[i].kind, page_of_gap_[i]);
}

void PrefixImport::keep() {
  const KvTerms& terms = cache_.terms();
  const auto n_pages = static_cast<size_t>(kv_pages_for(static_cast<int64_t>(tokens_.size()), terms.page_rows));
  std::vector<std::vector<int32_t>> pages;
  for (size_t kind = 0; kind < terms.n_attention_kinds(); ++kind) {
    std::vector<int32_t>& of_kind = pages.emplace_back(n_pages, kNoPage);
    if (terms.windows[kind] == 0) std::ranges::copy(kept_.pages[kind], of_kind.begin());
  }
  int32_t state = kNoPage;
  for (size_t i = 0; i < gaps_.size(); ++i) {
    const auto kind = static_cast<size_t>(gaps_[i].kind);
    (kind == pages.size() ? state : pages[kind][static_cast<size_t>(gaps_[i].page)]) = page_of_gap_[i];
  }
  cache_.insert(space_, tokens_, pages, state);
}

}  // namespace ferrox
