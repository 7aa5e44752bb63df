#include "kv/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/checked_math.h"
#include "kv/kv_layout.h"

namespace ferrox {
namespace {

size_t width_of(DType type, int n_kv_heads, int dim) {
  return static_cast<size_t>(n_kv_heads) * static_cast<size_t>(kv_row_bytes(type, dim));
}

/// The same elements in an allocation of `capacity` bytes.
std::vector<std::byte> reallocated(const std::vector<std::byte>& bytes, size_t capacity) {
  std::vector<std::byte> smaller;
  smaller.reserve(capacity);
  smaller.insert(smaller.end(), bytes.begin(), bytes.end());
  return smaller;
}

}  // namespace

KvCache::KvCache(const KvLayerShape& shape, DType k_type, DType v_type)
    : shape_(shape),
      k_type_(k_type),
      v_type_(v_type),
      k_width_(width_of(k_type, shape.n_kv_heads, shape.k_dim)),
      v_width_(width_of(v_type, shape.n_kv_heads, shape.v_dim)) {
  CHECK(k_width_ > 0 && v_width_ > 0, "rows have a width");
}

std::optional<KvCache> KvCache::pooled(const KvLayerShape& shape, DType k_type, DType v_type, KvPagePool& pool) {
  if (!pool.try_acquire(1)) return std::nullopt;
  KvCache cache(shape, k_type, v_type);
  cache.pool_ = &pool;
  cache.n_pages_ = 1;
  return cache;
}

KvCache::KvCache(const KvCache& other)
    : shape_(other.shape_),
      k_type_(other.k_type_),
      v_type_(other.v_type_),
      k_width_(other.k_width_),
      v_width_(other.v_width_),
      k_(other.k_),
      v_(other.v_),
      positions_(other.positions_),
      window_(other.window_),
      state_(other.state_) {}

KvCache::KvCache(KvCache&& other) noexcept
    : shape_(other.shape_),
      k_type_(other.k_type_),
      v_type_(other.v_type_),
      k_width_(other.k_width_),
      v_width_(other.v_width_),
      k_(std::exchange(other.k_, {})),
      v_(std::exchange(other.v_, {})),
      positions_(std::exchange(other.positions_, 0)),
      window_(other.window_),
      state_(std::exchange(other.state_, {})),
      pool_(std::exchange(other.pool_, nullptr)),
      n_pages_(std::exchange(other.n_pages_, 0)) {}

KvCache& KvCache::operator=(KvCache&& other) noexcept {
  std::swap(shape_, other.shape_);
  std::swap(k_type_, other.k_type_);
  std::swap(v_type_, other.v_type_);
  std::swap(k_width_, other.k_width_);
  std::swap(v_width_, other.v_width_);
  k_.swap(other.k_);
  v_.swap(other.v_);
  std::swap(positions_, other.positions_);
  std::swap(window_, other.window_);
  state_.swap(other.state_);
  std::swap(pool_, other.pool_);
  std::swap(n_pages_, other.n_pages_);
  return *this;
}

KvCache::~KvCache() {
  if (pool_ != nullptr) pool_->release(n_pages_);
}

void KvCache::plan_capacity(int64_t n_rows) {
  k_.reserve(static_cast<size_t>(n_rows) * k_width_);
  v_.reserve(static_cast<size_t>(n_rows) * v_width_);
}

bool KvCache::grow_pages(int64_t n_rows) {
  if (pool_ == nullptr) return true;
  const auto needed =
      static_cast<int64_t>(ceil_div(static_cast<uint64_t>(n_rows), static_cast<uint64_t>(pool_->page_rows())));
  if (needed <= n_pages_) return true;
  if (!pool_->try_acquire(needed - n_pages_)) return false;
  n_pages_ = needed;
  return true;
}

void KvCache::resize_rows(int64_t n_rows) {
  k_.resize(static_cast<size_t>(n_rows) * k_width_);
  v_.resize(static_cast<size_t>(n_rows) * v_width_);
}

bool KvCache::extend(int64_t n) {
  CHECK(n >= 0, "a number of rows is not negative");
  if (!grow_pages(rows() + n)) return false;
  resize_rows(rows() + n);
  positions_ += n;
  return true;
}

bool KvCache::push(std::span<const std::byte> k, std::span<const std::byte> v) {
  CHECK(k.size() == k_width_ && v.size() == v_width_, "a row has its layer's width");
  if (!extend(1)) return false;
  std::memcpy(k_.data() + k_.size() - k_width_, k.data(), k_width_);
  std::memcpy(v_.data() + v_.size() - v_width_, v.data(), v_width_);
  return true;
}

std::span<const std::byte> KvCache::k_row(int64_t i) const {
  CHECK(i >= 0 && i < rows(), "only resident rows are read");
  return std::span(k_).subspan(static_cast<size_t>(i) * k_width_, k_width_);
}

std::span<const std::byte> KvCache::v_row(int64_t i) const {
  CHECK(i >= 0 && i < rows(), "only resident rows are read");
  return std::span(v_).subspan(static_cast<size_t>(i) * v_width_, v_width_);
}

void KvCache::evict_behind_window() {
  if (!window_ || rows() <= window_->max_rows()) return;
  const auto n_dropped = static_cast<size_t>(rows() - window_->rows_after(positions_));
  k_.erase(k_.begin(), k_.begin() + static_cast<ptrdiff_t>(n_dropped * k_width_));
  v_.erase(v_.begin(), v_.begin() + static_cast<ptrdiff_t>(n_dropped * v_width_));
  if (pool_ != nullptr || capacity_rows() <= 2 * window_->max_rows()) return;
  const auto n_kept = static_cast<size_t>(window_->max_rows() + 1);  // the row that leads to the next bulk move
  k_ = reallocated(k_, n_kept * k_width_);
  v_ = reallocated(v_, n_kept * v_width_);
}

bool KvCache::can_truncate_to(int64_t n) const {
  if (n < 0 || n > positions_) return false;
  if (!state_.empty()) return n == 0 || n == positions_;
  const int64_t first_read = window_ ? std::max<int64_t>(0, n + 1 - window_->window) : 0;
  return n == 0 || first_read >= first_resident();
}

void KvCache::truncate(int64_t n) {
  CHECK(can_truncate_to(n), "a cache goes back only to where the rows it then reads are resident");
  const int64_t n_kept = std::max<int64_t>(0, n - first_resident());
  positions_ = n;
  resize_rows(n == 0 ? 0 : n_kept);
  if (n == 0) state_.clear();
}

KvLayerView KvCache::view() {
  return {.k = k_.data(),
          .v = v_.data(),
          .k_type = k_type_,
          .v_type = v_type_,
          .page_rows = 1,
          .n_kv_heads = shape_.n_kv_heads,
          .k_dim = shape_.k_dim,
          .v_dim = shape_.v_dim,
          .k_row_bytes = kv_row_bytes(k_type_, shape_.k_dim),
          .v_row_bytes = kv_row_bytes(v_type_, shape_.v_dim)};
}

}  // namespace ferrox
