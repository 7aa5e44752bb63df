#include "kv/paged_store.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "base/units.h"

namespace ferrox {
namespace {

constexpr uint64_t kRegionAlignment = 64;  // a cache line: no two layers' rows share one

uint64_t aligned(uint64_t size_bytes) {
  return saturating_add(size_bytes, kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

/// Bytes of one layer's K (or V) region.
uint64_t region_bytes(const KvLayerShape& shape, int32_t row_bytes, int32_t page_rows, int32_t n_pages) {
  const uint64_t rows = saturating_mul(static_cast<uint64_t>(shape.n_kv_heads), static_cast<uint64_t>(page_rows));
  return aligned(
      saturating_mul(saturating_mul(rows, static_cast<uint64_t>(row_bytes)), static_cast<uint64_t>(n_pages)));
}

KvLayerView empty_view(const KvLayout& layout, const KvLayerShape& shape) {
  return {.k = nullptr,
          .v = nullptr,
          .k_type = layout.k_type,
          .v_type = layout.v_type,
          .page_rows = layout.page_rows,
          .n_kv_heads = shape.n_kv_heads,
          .k_dim = shape.k_dim,
          .v_dim = shape.v_dim,
          .k_row_bytes = kv_row_bytes(layout.k_type, shape.k_dim),
          .v_row_bytes = kv_row_bytes(layout.v_type, shape.v_dim)};
}

}  // namespace

Result<PagedStore> PagedStore::create(const KvLayout& layout, int32_t n_pages) {
  TRY(validate_layout(layout));
  CHECK(n_pages >= 0, "a store has a number of pages");
  PagedStore store(layout, n_pages);
  uint64_t map_bytes = 0;
  for (const KvLayerShape& shape : layout.layers) {
    const KvLayerView& view = store.layers_.emplace_back(empty_view(layout, shape));
    map_bytes = saturating_add(map_bytes, region_bytes(shape, view.k_row_bytes, layout.page_rows, n_pages));
    map_bytes = saturating_add(map_bytes, region_bytes(shape, view.v_row_bytes, layout.page_rows, n_pages));
  }
  TRY(store.map_memory(map_bytes));
  std::byte* next = store.memory_;
  for (size_t i = 0; i < layout.layers.size(); ++i) {
    KvLayerView& view = store.layers_[i];
    view.k = next;
    next += region_bytes(layout.layers[i], view.k_row_bytes, layout.page_rows, n_pages);
    view.v = next;
    next += region_bytes(layout.layers[i], view.v_row_bytes, layout.page_rows, n_pages);
  }
  return store;
}

Result<void> PagedStore::map_memory(uint64_t map_bytes) {
  if (map_bytes == 0) return {};
  if (map_bytes > static_cast<uint64_t>(std::numeric_limits<ptrdiff_t>::max())) {
    return make_error(ErrorCode::kMemoryBudget, "KV cache: {} pages don't fit the address space", n_pages_);
  }
  void* memory = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return make_error(ErrorCode::kMemoryBudget, "KV cache: can't map {}: {}", format_bytes(map_bytes), strerror(errno));
  }
  memory_ = static_cast<std::byte*>(memory);
  map_bytes_ = map_bytes;
  return {};
}

uint64_t PagedStore::size_bytes() const { return kv_page_bytes(layout_) * static_cast<uint64_t>(n_pages_); }

PagedStore::PagedStore(PagedStore&& other) noexcept
    : layout_(std::move(other.layout_)),
      n_pages_(std::exchange(other.n_pages_, 0)),
      memory_(std::exchange(other.memory_, nullptr)),
      map_bytes_(std::exchange(other.map_bytes_, 0)),
      layers_(std::move(other.layers_)) {}

PagedStore& PagedStore::operator=(PagedStore&& other) noexcept {
  std::swap(layout_, other.layout_);
  std::swap(n_pages_, other.n_pages_);
  std::swap(memory_, other.memory_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(layers_, other.layers_);
  return *this;
}

PagedStore::~PagedStore() {
  if (memory_ != nullptr) munmap(memory_, map_bytes_);
}

}  // namespace ferrox
