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
  /// Maps n_pages[kind] pages of every layer of each attention kind of the layout. Errors: a layout that
  /// validate_layout refuses, a size that doesn't fit the address space, a mapping that the system refuses.
  static Result<PagedStore> create(const KvLayout& layout, std::vector<int32_t> n_pages);

  PagedStore(PagedStore&& other) noexcept;
  PagedStore& operator=(PagedStore&& other) noexcept;
  ~PagedStore();

  const std::vector<int32_t>& n_pages() const { return n_pages_; }  ///< of each kind
  const AttentionKinds& kinds() const { return kinds_; }
  int32_t page_rows() const { return layout_.page_rows; }
  const KvLayout& layout() const { return layout_; }

  /// What the pages take when all are touched: n_pages of each kind times their bytes.
  uint64_t size_bytes() const;

  /// One view for each of layout().layers, valid as long as this store.
  std::span<const KvLayerView> layers() const { return layers_; }

  /// The state that a page of the state kind holds, [layout().state_floats].
  float* state(int32_t page) const;
  void copy_state(int32_t from_page, int32_t to_page);

  /// The bytes of one page: K and V of every layer of an attention kind, or the state. Together page_bytes of the kind.
  std::vector<std::span<std::byte>> pieces(int kind, int32_t page) const;

  /// Gives the memory of n neighbouring pages, which nobody reads any more, back to the system. It comes again, as
  /// zeros, when they are written. What shares a page of the system with others stays.
  void give_back(int kind, int32_t first_page, int32_t n_pages);

  /// Copies the first n_rows rows of one page to another, in every layer of the kind.
  void copy_rows(int kind, int32_t from_page, int32_t to_page, int32_t n_rows);

 private:
  PagedStore(KvLayout layout, std::vector<int32_t> n_pages);
  int32_t n_pages_of(size_t layer) const;
  Result<void> map_memory(uint64_t map_bytes);

  KvLayout layout_;
  AttentionKinds kinds_;
  std::vector<int32_t> n_pages_;
  std::byte* memory_ = nullptr;
  size_t map_bytes_ = 0;
  float* states_ = nullptr;  ///< [pages of the state kind][state_floats], behind the layers' rows
  std::vector<KvLayerView> layers_;
};

}  // namespace ferrox
