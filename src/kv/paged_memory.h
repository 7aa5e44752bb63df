// How do many requests share one store? Each takes a lease on pages of every attention kind.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kv/page_groups.h"
#include "kv/paged_store.h"
#include "kv/prefix_cache.h"
#include "kv/request_kv.h"

namespace ferrox {

/// Whether free pages keep prefixes of what was computed.
enum class PrefixCaching { kOff, kOn };

class PagedMemory : public KvMemory {
 public:
  /// Maps terms.n_pages pages of the layout. Errors: as PagedStore::create.
  static Result<std::unique_ptr<PagedMemory>> create(const KvLayout& layout, const KvTerms& terms,
                                                     PrefixCaching caching = PrefixCaching::kOff);

  /// CHECKs that every page came back.
  ~PagedMemory() override;

  const KvTerms& terms() const override { return terms_; }
  std::span<const KvLayerView> layers() override { return store_.layers(); }
  using KvMemory::take;
  std::unique_ptr<RequestKv> take(const KvDemand& demand) override;
  std::optional<PrefixReport> find_prefix(std::string_view space, std::span<const int32_t> prompt) const override;
  std::vector<int32_t> n_free() const override;
  std::vector<int32_t> n_available() const override;
  std::optional<PrefixCacheReport> cache_report(size_t most_nodes) const override;
  void clear_cache() override;
  void give_back() override;
  PrefixPins* pins() override { return cache_ ? &cache_->pins() : nullptr; }
  uint64_t size_bytes() const override { return store_.size_bytes(); }
  void check_integrity() const override;

  /// nullptr: nothing is cached.
  PrefixCache* prefix_cache() { return cache_ ? &*cache_ : nullptr; }

  PagedStore& store() { return store_; }
  PageGroups& groups() { return groups_; }

 private:
  PagedMemory(PagedStore store, const KvTerms& terms, PrefixCaching caching);
  bool make_room(std::span<const int64_t> n);
  std::unique_ptr<RequestKv> take_behind(const PrefixMatch& match, const KvDemand& demand);
  void expect_pins(const KvDemand& demand, RequestKv& request);
  std::unique_ptr<RequestKv> take_fresh(const KvDemand& demand, int64_t n_common);

  PagedStore store_;
  KvTerms terms_;
  PageGroups groups_;
  std::optional<PrefixCache> cache_;
};

/// The terms of a layout's pages: windows, bytes and rows of a page. The rest is the caller's.
KvTerms terms_of(const KvLayout& layout);

}  // namespace ferrox
