// How do many requests share one store? Each takes a lease on pages of every attention kind.
#pragma once

#include <memory>
#include <vector>

#include "kv/page_groups.h"
#include "kv/paged_store.h"
#include "kv/request_kv.h"

namespace ferrox {

class PagedMemory : public KvMemory {
 public:
  /// Maps terms.n_pages pages of the layout. Errors: as PagedStore::create.
  static Result<std::unique_ptr<PagedMemory>> create(const KvLayout& layout, const KvTerms& terms);

  /// CHECKs that every page came back.
  ~PagedMemory() override;

  const KvTerms& terms() const override { return terms_; }
  std::span<const KvLayerView> layers() override { return store_.layers(); }
  std::unique_ptr<RequestKv> take(int64_t n_prompt, int64_t max_tokens, int64_t n_choices) override;
  std::vector<int32_t> n_free() const override;
  uint64_t size_bytes() const override { return store_.size_bytes(); }
  void check_integrity() const override { groups_.check_integrity(); }

  PagedStore& store() { return store_; }
  PageGroups& groups() { return groups_; }

 private:
  PagedMemory(PagedStore store, const KvTerms& terms);

  PagedStore store_;
  KvTerms terms_;
  PageGroups groups_;
};

/// The terms of a layout's pages: windows, bytes and rows of a page. The rest is the caller's.
KvTerms terms_of(const KvLayout& layout);

}  // namespace ferrox
