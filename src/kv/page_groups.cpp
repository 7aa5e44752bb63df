#include "kv/page_groups.h"

#include <numeric>

#include "base/check.h"

namespace ferrox {

PageGroups::PageGroups(std::span<const int32_t> n_pages, State state) : has_state_(state == State::kLastKind) {
  for (const int32_t n : n_pages) pools_.emplace_back(n);
}

bool PageGroups::fits(std::span<const int64_t> n) const {
  CHECK(n.size() == pools_.size(), "each kind has its number of pages");
  for (size_t kind = 0; kind < n.size(); ++kind) {
    if (n[kind] > pools_[kind].n_free()) return false;
  }
  return true;
}

int64_t PageGroups::n_free() const {
  return std::accumulate(pools_.begin(), pools_.end(), int64_t{0},
                         [](int64_t sum, const PagePool& pool) { return sum + pool.n_free(); });
}

int64_t PageGroups::n_held() const {
  return std::accumulate(pools_.begin(), pools_.end(), int64_t{0},
                         [](int64_t sum, const PagePool& pool) { return sum + pool.n_held(); });
}

void PageGroups::check_integrity() const {
  for (const PagePool& pool : pools_) pool.check_integrity();
}

}  // namespace ferrox
