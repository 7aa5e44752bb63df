#include "kv/paged_request.h"

#include <algorithm>
#include <utility>

namespace ferrox {
namespace {

/// Tokens between two snapshots of the state in a prompt without boundaries.
constexpr int64_t kSnapshotInterval = 2048;
/// Tokens at least between two message ends that get one: each ends a step of the prompt.
constexpr int64_t kLeastBetweenSnapshots = 64;

/// The last of several boundaries that lie close together.
std::vector<int64_t> thinned(std::span<const int64_t> boundaries) {
  std::vector<int64_t> kept;
  for (auto boundary = boundaries.rbegin(); boundary != boundaries.rend(); ++boundary) {
    if (kept.empty() || kept.back() - *boundary >= kLeastBetweenSnapshots) kept.push_back(*boundary);
  }
  return kept;
}

}  // namespace

PagedRequest::PagedRequest(KvLease lease, PagedStore& store, PrefixCache* cache, const KvDemand& demand,
                           int64_t n_common)
    : lease_(std::move(lease)), store_(store), cache_(cache), space_(demand.space), n_reused_(lease_.length()) {
  if (cache_ == nullptr) return;
  add_branch(n_common);
  if (!has_state()) {
    branches_.insert(demand.boundaries.begin(), demand.boundaries.end());
    branches_.insert(demand.n_prompt);
    return;
  }
  for (const int64_t boundary : thinned(demand.boundaries)) add_branch(boundary);
  branches_.insert(demand.n_prompt - 1);  // an exact repeat computes the last token, a longer prompt one more
  for (int64_t n = kSnapshotInterval; n < demand.n_prompt; n += kSnapshotInterval) branches_.insert(n);
}

PagedRequest::PagedRequest(KvLease lease, const PagedRequest& sibling)
    : lease_(std::move(lease)),
      store_(sibling.store_),
      cache_(sibling.cache_),
      space_(sibling.space_),
      n_reused_(sibling.n_reused_) {}

bool PagedRequest::has_state() const { return store_.layout().state_floats > 0; }

float* PagedRequest::state() { return has_state() ? store_.state(lease_.sequence().state_page()) : nullptr; }

int64_t PagedRequest::most_rows() const {
  const auto next = branches_.upper_bound(length());
  if (!has_state() || next == branches_.end()) return RequestKv::most_rows();
  return *next - length();
}

/// A state and a window must lie in one node of the tree. Inside a page of another sequence, whose window is gone, they
/// can't: so where there are both, the last whole page is a branch too.
void PagedRequest::add_branch(int64_t length) {
  branches_.insert(length);
  const bool has_window = std::ranges::any_of(store_.kinds().windows, [](int window) { return window > 0; });
  if (has_state() && has_window) branches_.insert(length / store_.page_rows() * store_.page_rows());
}

void PagedRequest::expect_branch(int64_t length) {
  if (cache_ != nullptr) add_branch(length);
}

void PagedRequest::observe_anchor(int64_t length) {
  lease_.observe_anchor(length);
  expect_branch(length);
}

void PagedRequest::end_step(std::span<const int32_t> tokens) {
  const int64_t from = length();
  lease_.end_rows();
  const bool is_due = length() <= lease_.n_prompt() || passes(branches_, from) || passes(page_ends_, from);
  if (cache_ != nullptr && is_due) publish_step(tokens, from);
  lease_.slide();
}

bool PagedRequest::passes(const std::set<int64_t>& lengths, int64_t from) const {
  return lengths.upper_bound(from) != lengths.upper_bound(length());
}

/// The pages of a sliding kind that hold the window of a branch in (from, length], and one row more, so that the last
/// token before it can be computed again.
std::vector<int32_t> PagedRequest::pages_at_branches(int kind, int64_t from) const {
  const KindTable& table = lease_.sequence().kind(kind);
  const int64_t window = store_.kinds().windows[static_cast<size_t>(kind)];
  std::vector<int32_t> pages = table.live_pages(length(), 0, 0, kNoPage);
  const auto end = branches_.upper_bound(length());
  for (auto branch = branches_.upper_bound(from); branch != end; ++branch) {
    const std::vector<int32_t> live =
        table.live_pages(length(), std::max<int64_t>(0, *branch - window), *branch, kNoPage);
    for (size_t i = 0; i < pages.size(); ++i) pages[i] = std::max(pages[i], live[i]);
  }
  for (auto filled = page_ends_.upper_bound(from); filled != page_ends_.upper_bound(length()); ++filled) {
    const auto i = static_cast<size_t>(*filled / store_.page_rows()) - 1;
    pages[i] = table.live_pages(length(), *filled - store_.page_rows(), *filled, kNoPage)[i];
  }
  return pages;
}

/// A page that the tree was given part full is offered again when it is full, or it would be lost to what follows.
void PagedRequest::expect_page_ends(int64_t from) {
  const int64_t rows = store_.page_rows();
  page_ends_.erase(page_ends_.begin(), page_ends_.upper_bound(length()));
  if (passes(branches_, from) && length() % rows != 0) page_ends_.insert((length() / rows + 1) * rows);
}

/// A page with a copy of the state, held once, or kNoPage when there is none to be had.
int32_t PagedRequest::take_snapshot() {
  std::vector<int64_t> n(static_cast<size_t>(cache_->groups().n_kinds()), 0);
  n.back() = 1;
  std::vector<int32_t> page;
  if (!cache_->make_room(n) || !cache_->groups().state_pool().try_acquire(1, page)) return kNoPage;
  store_.copy_state(lease_.sequence().state_page(), page.front());
  return page.front();
}

void PagedRequest::publish_step(std::span<const int32_t> tokens, int64_t from) {
  SequenceKv& sequence = lease_.sequence();
  std::vector<std::vector<int32_t>> pages;
  std::vector<int64_t> n_in_exchange(static_cast<size_t>(cache_->groups().n_kinds()), 0);
  for (int kind = 0; kind < sequence.n_kinds(); ++kind) {
    const bool is_full = store_.kinds().windows[static_cast<size_t>(kind)] == 0;
    pages.push_back(is_full ? sequence.kind(kind).live_pages(length(), 0, length(), kNoPage)
                            : pages_at_branches(kind, from));
    if (is_full) continue;
    n_in_exchange[static_cast<size_t>(kind)] =
        std::ranges::count_if(pages.back(), [](int32_t page) { return page != kNoPage; });
  }
  if (!cache_->make_room(n_in_exchange) || !sequence.reserve_pages(n_in_exchange)) {
    for (int kind = 0; kind < sequence.n_kinds(); ++kind) {
      if (n_in_exchange[static_cast<size_t>(kind)] == 0) continue;
      std::ranges::fill(pages[static_cast<size_t>(kind)], kNoPage);
      n_in_exchange[static_cast<size_t>(kind)] = 0;
    }
  }
  const auto computed = tokens.first(static_cast<size_t>(length()));
  const bool wants_snapshot =
      has_state() && branches_.contains(length()) && !cache_->tree().has_state(space_, computed);
  const int32_t snapshot = wants_snapshot ? take_snapshot() : kNoPage;
  const PrefixTree::Insertion done = cache_->insert(space_, computed, pages, snapshot);
  if (snapshot != kNoPage) cache_->groups().state_pool().release({&snapshot, 1});
  for (int kind = 0; kind < sequence.n_kinds(); ++kind) {
    const auto k = static_cast<size_t>(kind);
    if (store_.kinds().windows[k] == 0) {
      sequence.kind(kind).replace(done.duplicates);
    } else {
      sequence.kind(kind).return_pages(n_in_exchange[k] - done.n_taken[k]);
    }
  }
  expect_page_ends(from);
}

void PagedRequest::publish(std::span<const int32_t> tokens) {
  if (cache_ == nullptr || length() == 0) return;
  std::vector<std::vector<int32_t>> pages;
  for (int kind = 0; kind < lease_.sequence().n_kinds(); ++kind) {
    pages.push_back(lease_.sequence().kind(kind).live_pages(length(), 0, length(), kNoPage));
  }
  const int32_t state = has_state() ? lease_.sequence().state_page() : kNoPage;
  cache_->insert(space_, tokens.first(static_cast<size_t>(length())), pages, state);
}

std::vector<std::unique_ptr<RequestKv>> PagedRequest::fork_choices(int64_t n) {
  std::vector<std::unique_ptr<RequestKv>> twins;
  for (KvLease& twin : lease_.fork_choices(store_, n)) {
    twins.push_back(std::unique_ptr<RequestKv>(new PagedRequest(std::move(twin), *this)));
  }
  return twins;
}

}  // namespace ferrox
