// How does one request at a time keep its rows in one piece per layer? Windowed layers drop what they no longer read.
#pragma once

#include <memory>
#include <vector>

#include "kv/kv_cache.h"
#include "kv/kv_layout.h"
#include "kv/request_kv.h"
#include "tensor/attention_kinds.h"

namespace ferrox {

/// Most rows that a layer's cache holds when n_positions are computed in chunks of chunk_rows.
int64_t contiguous_rows(const KvLayerShape& shape, int64_t n_positions, int64_t chunk_rows);

/// Bytes of all layers' caches then; saturates.
uint64_t contiguous_bytes(const KvLayout& layout, int64_t n_positions, int64_t chunk_rows);

/// One slot: its terms say one page of context_length rows, which a request takes whole.
class ContiguousMemory : public KvMemory {
 public:
  /// Errors: as validate_layout, memory that the system refuses. layout.page_rows isn't used.
  static Result<std::unique_ptr<ContiguousMemory>> create(const KvLayout& layout, int64_t context_length,
                                                          int64_t chunk_rows);

  const KvTerms& terms() const override { return terms_; }
  std::span<const KvLayerView> layers() override { return views_; }
  using KvMemory::take;
  std::unique_ptr<RequestKv> take(const KvDemand& demand) override;
  std::vector<int32_t> n_free() const override { return {is_taken_ ? 0 : 1}; }
  void give_back() override;
  uint64_t size_bytes() const override { return terms_.page_bytes.front(); }
  void check_integrity() const override {}

 private:
  class Run;
  ContiguousMemory(KvLayout layout, int64_t context_length, int64_t chunk_rows);
  bool plan_caches();
  void plan_rows();

  KvLayout layout_;
  AttentionKinds kinds_;
  KvTerms terms_;
  std::vector<KvCache> caches_;  ///< of each layer: one request after the other has its rows there
  bool is_taken_ = false;
  std::vector<KvLayerView> views_;
  std::vector<float> state_;
};

}  // namespace ferrox
