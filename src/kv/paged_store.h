// Where does the KV memory of all layers lie? In one anonymous mapping that takes memory as it is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kv/kv_layout.h"
#include "tensor/kv_view.h"

namespace ferrox {

class PagedStore {
 public:
  /// Maps n_pages pages of every layer. Errors: a layout that validate_layout refuses, a size that doesn't fit the
  /// address space, a mapping that the system refuses.
  static Result<PagedStore> create(const KvLayout& layout, int32_t n_pages);

  PagedStore(PagedStore&& other) noexcept;
  PagedStore& operator=(PagedStore&& other) noexcept;
  ~PagedStore();

  int32_t n_pages() const { return n_pages_; }
  int32_t page_rows() const { return layout_.page_rows; }
  const KvLayout& layout() const { return layout_; }

  /// n_pages * kv_page_bytes(layout): what the pages take when all are touched.
  uint64_t size_bytes() const;

  /// One view for each of layout().layers, valid as long as this store.
  std::span<const KvLayerView> layers() const { return layers_; }

 private:
  PagedStore(KvLayout layout, int32_t n_pages) : layout_(std::move(layout)), n_pages_(n_pages) {}
  Result<void> map_memory(uint64_t map_bytes);

  KvLayout layout_;
  int32_t n_pages_;
  std::byte* memory_ = nullptr;
  size_t map_bytes_ = 0;
  std::vector<KvLayerView> layers_;
};

}  // namespace ferrox
