#include "kv/paged_memory.h"

#include <utility>

#include "base/check.h"
#include "kv/lease.h"

namespace ferrox {
namespace {

/// A lease, and the store that its forks copy rows in.
class PagedRequest : public RequestKv {
 public:
  PagedRequest(KvLease lease, PagedStore& store) : lease_(std::move(lease)), store_(store) {}

  int64_t length() const override { return lease_.length(); }
  std::span<const PageTable> begin_step(int64_t n_rows) override { return lease_.begin_step(n_rows); }
  void end_step() override { lease_.end_step(); }
  void observe_anchor(int64_t length) override { lease_.observe_anchor(length); }

  std::vector<std::unique_ptr<RequestKv>> fork_choices(int64_t n) override {
    std::vector<std::unique_ptr<RequestKv>> twins;
    for (KvLease& twin : lease_.fork_choices(store_, n)) {
      twins.push_back(std::make_unique<PagedRequest>(std::move(twin), store_));
    }
    return twins;
  }

 private:
  KvLease lease_;
  PagedStore& store_;
};

}  // namespace

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

std::unique_ptr<RequestKv> PagedMemory::take(int64_t n_prompt, int64_t max_tokens, int64_t n_choices) {
  std::optional<KvLease> lease = KvLease::take(groups_, terms_, n_prompt, max_tokens, n_choices);
  if (!lease) return nullptr;
  return std::make_unique<PagedRequest>(std::move(*lease), store_);
}

std::vector<int32_t> PagedMemory::n_free() const {
  std::vector<int32_t> n;
  for (int kind = 0; kind < groups_.n_kinds(); ++kind) n.push_back(groups_.pool(kind).n_free());
  return n;
}

}  // namespace ferrox
