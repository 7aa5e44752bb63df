#include "kv/paged_memory.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kv/lease.h"
#include "kv/paged_request.h"

namespace ferrox {

KvTerms terms_of(const KvLayout& layout) {
  KvTerms terms;
  terms.windows = attention_kinds(layout.layers).windows;
  if (layout.state_floats > 0) terms.windows.push_back(kStateKind);
  terms.page_bytes = kv_page_bytes_of_kinds(layout);
  terms.page_rows = layout.page_rows;
  return terms;
}

Result<std::unique_ptr<PagedMemory>> PagedMemory::create(const KvLayout& layout, const KvTerms& terms,
                                                         PrefixCaching caching) {
  TRY_ASSIGN(PagedStore store, PagedStore::create(layout, terms.n_pages));
  return std::unique_ptr<PagedMemory>(new PagedMemory(std::move(store), terms, caching));
}

PagedMemory::PagedMemory(PagedStore store, const KvTerms& terms, PrefixCaching caching)
    : store_(std::move(store)),
      terms_(terms),
      groups_(terms_.n_pages, terms_.has_state() ? PageGroups::State::kLastKind : PageGroups::State::kNone) {
  if (caching == PrefixCaching::kOn) cache_.emplace(store_, groups_, terms_);
}

PagedMemory::~PagedMemory() {
  check_integrity();
  clear_cache();
  CHECK(groups_.n_held() == 0, "every page came back");
}

bool PagedMemory::make_room(std::span<const int64_t> n) { return cache_ ? cache_->make_room(n) : groups_.fits(n); }

std::unique_ptr<RequestKv> PagedMemory::take_behind(const PrefixMatch& match, const KvDemand& demand) {
  const PrefixCache::Hold hold(groups_, match);
  const int64_t n_shared = match.n_usable / terms_.page_rows * terms_.page_rows;
  if (!make_room(choice_pages(terms_, demand.n_prompt - n_shared, demand.max_tokens, demand.n_choices))) return nullptr;
  std::optional<KvLease> lease =
      KvLease::resume(store_, groups_, terms_, match, demand.n_prompt, demand.max_tokens, demand.n_choices);
  CHECK(lease, "what was made room for can be taken");
  cache_->tree().touch(demand.space, demand.prompt, match.n_usable);
  return std::make_unique<PagedRequest>(std::move(*lease), store_, &*cache_, demand, match.n_common);
}

std::unique_ptr<RequestKv> PagedMemory::take_fresh(const KvDemand& demand, int64_t n_common) {
  if (!make_room(choice_pages(terms_, demand.n_prompt, demand.max_tokens, demand.n_choices))) return nullptr;
  std::optional<KvLease> lease = KvLease::take(groups_, terms_, demand.n_prompt, demand.max_tokens, demand.n_choices);
  CHECK(lease, "what was made room for can be taken");
  const bool is_cached = cache_ && !demand.prompt.empty();
  auto request =
      std::make_unique<PagedRequest>(std::move(*lease), store_, is_cached ? &*cache_ : nullptr, demand, n_common);
  if (terms_.has_state()) std::fill_n(request->state(), store_.layout().state_floats, 0.0f);
  return request;
}

/// Where a pinned prefix of the prompt ends others will go on: a window or a state is kept there.
void PagedMemory::expect_pins(const KvDemand& demand, RequestKv& request) {
  for (const PrefixPin& pin : cache_->pins().list(demand.space)) {
    const auto n = static_cast<int64_t>(pin.tokens.size());
    if (pin.space != demand.space || common_length(pin.tokens, demand.prompt) < n) continue;
    if (n > request.length()) request.expect_branch(n);
  }
}

std::unique_ptr<RequestKv> PagedMemory::take(const KvDemand& demand) {
  if (!cache_ || demand.prompt.empty()) return take_fresh(demand, 0);
  const PrefixMatch match = cache_->match(demand.space, demand.prompt);
  std::unique_ptr<RequestKv> request;
  if (match.n_usable > 0) request = take_behind(match, demand);
  if (!request) request = take_fresh(demand, match.n_common);  // a match that leaves no room beside it is given up
  if (!request) return nullptr;
  expect_pins(demand, *request);
  cache_->count_query(demand.n_prompt, request->n_reused());
  return request;
}

std::optional<PrefixReport> PagedMemory::find_prefix(std::string_view space, std::span<const int32_t> prompt) const {
  if (!cache_) return std::nullopt;
  return cache_->report(space, prompt);
}

std::vector<int32_t> PagedMemory::n_free() const {
  std::vector<int32_t> n;
  for (int kind = 0; kind < groups_.n_kinds(); ++kind) n.push_back(groups_.pool(kind).n_free());
  return n;
}

std::vector<int32_t> PagedMemory::n_available() const {
  std::vector<int32_t> n = n_free();
  for (int kind = 0; kind < groups_.n_kinds(); ++kind) n[static_cast<size_t>(kind)] += groups_.pool(kind).n_idle();
  return n;
}

std::optional<PrefixCacheReport> PagedMemory::cache_report(size_t most_nodes) const {
  if (!cache_) return std::nullopt;
  return cache_->report(most_nodes);
}

void PagedMemory::clear_cache() {
  if (cache_) cache_->tree().clear();
}

void PagedMemory::give_back() {
  for (int kind = 0; kind < groups_.n_kinds(); ++kind) {
    const PagePool& pool = groups_.pool(kind);
    int32_t first = 0;
    for (int32_t page = 0; page <= pool.n_pages(); ++page) {
      if (page < pool.n_pages() && pool.n_holders(page) == 0) continue;
      store_.give_back(kind, first, page - first);
      first = page + 1;
    }
  }
}

void PagedMemory::check_integrity() const {
  groups_.check_integrity();
  if (cache_) cache_->tree().check_integrity();
}

}  // namespace ferrox
