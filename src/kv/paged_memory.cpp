#include "kv/paged_memory.h"

#include <utility>

#include "base/check.h"
#include "kv/lease.h"

namespace ferrox {

KvTerms terms_of(const KvLayout& layout) {
  KvTerms terms;
  terms.windows = attention_kinds(layout.layers).windows;
  terms.page_bytes = kv_page_bytes_of_kinds(layout);
  terms.page_rows = layout.page_rows;
  return terms;
}

Result<std::unique_ptr<PagedMemory>> PagedMemory::create(const KvLayout& layout, const KvTerms& terms) {
  TRY_ASSIGN(PagedStore store, PagedStore::create(layout, terms.n_pages));
  return std::unique_ptr<PagedMemory>(new PagedMemory(std::move(store), terms));
}

PagedMemory::PagedMemory(PagedStore store, const KvTerms& terms)
    : store_(std::move(store)), terms_(terms), groups_(terms_.n_pages) {}

PagedMemory::~PagedMemory() {
  groups_.check_integrity();
  CHECK(groups_.n_held() == 0, "every page came back");
}

std::unique_ptr<RequestKv> PagedMemory::take(int64_t n_prompt, int64_t max_tokens) {
  std::optional<KvLease> lease = KvLease::take(groups_, terms_, n_prompt, max_tokens);
  return lease ? std::make_unique<KvLease>(std::move(*lease)) : nullptr;
}

std::vector<int32_t> PagedMemory::n_free() const {
  std::vector<int32_t> n;
  for (int kind = 0; kind < groups_.n_kinds(); ++kind) n.push_back(groups_.pool(kind).n_free());
  return n;
}

}  // namespace ferrox
