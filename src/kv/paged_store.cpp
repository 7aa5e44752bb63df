#include "kv/paged_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
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

uint64_t states_bytes(const KvLayout& layout, int32_t n_pages) {
  const uint64_t one = static_cast<uint64_t>(layout.state_floats) * sizeof(float);
  return aligned(saturating_mul(one, static_cast<uint64_t>(n_pages)));
}

/// The whole system pages within these bytes go.
void drop_pages(std::byte* bytes, size_t n_bytes) {
  static const auto kSystemPage = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(bytes) + kSystemPage - 1) / kSystemPage * kSystemPage;
  const auto end = (reinterpret_cast<uintptr_t>(bytes) + n_bytes) / kSystemPage * kSystemPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // refused: it stays
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

PagedStore::PagedStore(KvLayout layout, std::vector<int32_t> n_pages)
    : layout_(std::move(layout)), kinds_(attention_kinds(layout_.layers)), n_pages_(std::move(n_pages)) {
  CHECK(n_pages_.size() == kinds_.windows.size() + (layout_.state_floats > 0 ? 1 : 0), "each kind has its pages");
  for (const int32_t n : n_pages_) CHECK(n >= 0, "a store has a number of pages");
}

int32_t PagedStore::n_pages_of(size_t layer) const { return n_pages_[static_cast<size_t>(kinds_.of_layer[layer])]; }

Result<PagedStore> PagedStore::create(const KvLayout& layout, std::vector<int32_t> n_pages) {
  TRY(validate_layout(layout));
  PagedStore store(layout, std::move(n_pages));
  uint64_t map_bytes = 0;
  for (size_t i = 0; i < layout.layers.size(); ++i) {
    const KvLayerShape& shape = layout.layers[i];
    const KvLayerView& view = store.layers_.emplace_back(empty_view(layout, shape));
    const int32_t n = store.n_pages_of(i);
    map_bytes = saturating_add(map_bytes, region_bytes(shape, view.k_row_bytes, layout.page_rows, n));
    map_bytes = saturating_add(map_bytes, region_bytes(shape, view.v_row_bytes, layout.page_rows, n));
  }
  if (layout.state_floats > 0) map_bytes = saturating_add(map_bytes, states_bytes(layout, store.n_pages_.back()));
  TRY(store.map_memory(map_bytes));
  std::byte* next = store.memory_;
  for (size_t i = 0; i < layout.layers.size(); ++i) {
    KvLayerView& view = store.layers_[i];
    const int32_t n = store.n_pages_of(i);
    view.k = next;
    next += region_bytes(layout.layers[i], view.k_row_bytes, layout.page_rows, n);
    view.v = next;
    next += region_bytes(layout.layers[i], view.v_row_bytes, layout.page_rows, n);
  }
  store.states_ = reinterpret_cast<float*>(next);
  return store;
}

Result<void> PagedStore::map_memory(uint64_t map_bytes) {
  if (map_bytes == 0) return {};
  if (map_bytes > static_cast<uint64_t>(std::numeric_limits<ptrdiff_t>::max())) {
    return make_error(ErrorCode::kMemoryBudget, "KV cache: {} don't fit the address space", format_bytes(map_bytes));
  }
  void* memory = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return make_error(ErrorCode::kMemoryBudget, "KV cache: can't map {}: {}", format_bytes(map_bytes), strerror(errno));
  }
  // A prefix cache grows into new memory; faulted in by 4 KiB that costs 2.5 % of a load with nothing shared.
  madvise(memory, map_bytes, MADV_HUGEPAGE);  // refused: it stays as it is
  memory_ = static_cast<std::byte*>(memory);
  map_bytes_ = map_bytes;
  return {};
}

uint64_t PagedStore::size_bytes() const {
  const std::vector<uint64_t> page_bytes = kv_page_bytes_of_kinds(layout_);
  uint64_t bytes = 0;
  for (size_t kind = 0; kind < page_bytes.size(); ++kind) {
    bytes += page_bytes[kind] * static_cast<uint64_t>(n_pages_[kind]);
  }
  return bytes;
}

float* PagedStore::state(int32_t page) const {
  CHECK(page >= 0 && page < n_pages_.back(), "a state has its page");
  return states_ + page * layout_.state_floats;
}

void PagedStore::copy_state(int32_t from_page, int32_t to_page) {
  std::memcpy(state(to_page), state(from_page), static_cast<size_t>(layout_.state_floats) * sizeof(float));
}

std::vector<std::span<std::byte>> PagedStore::pieces(int kind, int32_t page) const {
  if (kind == static_cast<int>(kinds_.windows.size())) {
    return {std::as_writable_bytes(std::span(state(page), static_cast<size_t>(layout_.state_floats)))};
  }
  std::vector<std::span<std::byte>> pieces;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (kinds_.of_layer[i] != kind) continue;
    const KvLayerView& layer = layers_[i];
    const auto n_rows = static_cast<size_t>(layer.n_kv_heads) * static_cast<size_t>(layout_.page_rows);
    pieces.emplace_back(layer.k_row(page, 0, 0), n_rows * static_cast<size_t>(layer.k_row_bytes));
    pieces.emplace_back(layer.v_row(page, 0, 0), n_rows * static_cast<size_t>(layer.v_row_bytes));
  }
  return pieces;
}

void PagedStore::give_back(int kind, int32_t first_page, int32_t n_pages) {
  if (n_pages == 0) return;
  // Pieces of neighbours are neighbours, in every layer.
  const auto first = pieces(kind, first_page);
  const auto last = pieces(kind, first_page + n_pages - 1);
  for (size_t i = 0; i < first.size(); ++i) {
    std::byte* const begin = first[i].data();
    drop_pages(begin, static_cast<size_t>(last[i].data() + last[i].size() - begin));
  }
}

void PagedStore::copy_rows(int kind, int32_t from_page, int32_t to_page, int32_t n_rows) {
  CHECK(n_rows >= 0 && n_rows <= layout_.page_rows, "a page's rows are copied within a page");
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (kinds_.of_layer[i] != kind) continue;
    const KvLayerView& layer = layers_[i];
    for (int head = 0; head < layer.n_kv_heads; ++head) {
      const auto n = static_cast<size_t>(n_rows);
      std::memcpy(layer.k_row(to_page, head, 0), layer.k_row(from_page, head, 0),
                  n * static_cast<size_t>(layer.k_row_bytes));
      std::memcpy(layer.v_row(to_page, head, 0), layer.v_row(from_page, head, 0),
                  n * static_cast<size_t>(layer.v_row_bytes));
    }
  }
}

PagedStore::PagedStore(PagedStore&& other) noexcept
    : layout_(std::move(other.layout_)),
      kinds_(std::move(other.kinds_)),
      n_pages_(std::exchange(other.n_pages_, {})),
      memory_(std::exchange(other.memory_, nullptr)),
      map_bytes_(std::exchange(other.map_bytes_, 0)),
      states_(std::exchange(other.states_, nullptr)),
      layers_(std::move(other.layers_)) {}

PagedStore& PagedStore::operator=(PagedStore&& other) noexcept {
  std::swap(layout_, other.layout_);
  std::swap(kinds_, other.kinds_);
  std::swap(n_pages_, other.n_pages_);
  std::swap(memory_, other.memory_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(states_, other.states_);
  std::swap(layers_, other.layers_);
  return *this;
}

PagedStore::~PagedStore() {
  if (memory_ != nullptr) munmap(memory_, map_bytes_);
}

}  // namespace ferrox
