// How does one layer keep its rows in one piece of memory? For runs of one sequence, and as the judge of paged storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kv/kv_page_pool.h"
#include "kv/kv_window.h"
#include "tensor/kv_view.h"

namespace ferrox {

/// K and V rows of one sequence, each with all KV heads side by side. Row i holds position positions() - rows() + i;
/// the two differ once a windowed layer has dropped rows. Every CHECK named below is a bug of the caller.
class KvCache {
 public:
  /// Grows as it is pushed to. `shape` and types as validate_layout allows them.
  KvCache(const KvLayerShape& shape, DType k_type, DType v_type);

  /// One that draws pages of `pool`, which must outlive it, and starts with one; nothing when none is free.
  static std::optional<KvCache> pooled(const KvLayerShape& shape, DType k_type, DType v_type, KvPagePool& pool);

  /// A copy keeps the window, belongs to no pool and gives no pages back.
  KvCache(const KvCache& other);
  KvCache& operator=(const KvCache& other) = delete;
  KvCache(KvCache&& other) noexcept;
  KvCache& operator=(KvCache&& other) noexcept;
  ~KvCache();

  int64_t positions() const { return positions_; }  ///< consumed: for RoPE, resuming and truncate
  int64_t rows() const { return static_cast<int64_t>(k_.size() / k_width_); }  ///< resident
  int64_t first_resident() const { return positions_ - rows(); }
  int64_t capacity_rows() const { return static_cast<int64_t>(k_.capacity() / k_width_); }
  int64_t n_pages_held() const { return n_pages_; }  ///< of the pool
  uint64_t allocated_bytes() const { return k_.capacity() + v_.capacity(); }

  /// Makes room for n_rows rows in all: nothing is reallocated before there are more.
  void plan_capacity(int64_t n_rows);

  /// One position's rows of all heads, k_width() and v_width() bytes (CHECK). False when the pool has no page for
  /// it; nothing has changed then.
  bool push(std::span<const std::byte> k, std::span<const std::byte> v);

  /// Room for n positions that a forward pass writes through view(); all or, with false, none.
  bool extend(int64_t n);

  size_t k_width() const { return k_width_; }
  size_t v_width() const { return v_width_; }
  std::span<const std::byte> k_row(int64_t i) const;
  std::span<const std::byte> v_row(int64_t i) const;

  /// Dropping is asked for after the layer's attention: a prompt writes many rows and then reads from an earlier one.
  void arm_window(KvWindow window) { window_ = window; }
  const std::optional<KvWindow>& window() const { return window_; }

  /// Drops rows behind the window, in bulk, and memory when capacity is more than twice the window's most rows. What
  /// is drawn from a pool never shrinks: it would take a page again and again until the pool is dry.
  void evict_behind_window();

  /// A recurrent layer's state, which can't be taken back to an earlier position.
  void set_state(std::vector<float> state) { state_ = std::move(state); }
  std::span<const float> state() const { return state_; }

  /// Whether positions n and later can be forgotten: the rows that position n reads are resident, and a recurrent
  /// state allows 0 and the current length alone.
  bool can_truncate_to(int64_t n) const;

  /// Forgets positions n and later; CHECKs can_truncate_to(n).
  void truncate(int64_t n);

  /// The rows as pages of one row, for attention: page i is row i. Valid until the cache changes.
  KvLayerView view();

 private:
  bool grow_pages(int64_t n_rows);
  void resize_rows(int64_t n_rows);

  KvLayerShape shape_;
  DType k_type_;
  DType v_type_;
  size_t k_width_;  ///< bytes of one position's K over all heads
  size_t v_width_;
  std::vector<std::byte> k_;  ///< [rows][n_kv_heads][k_dim]
  std::vector<std::byte> v_;  ///< [rows][n_kv_heads][v_dim]
  int64_t positions_ = 0;
  std::optional<KvWindow> window_;
  std::vector<float> state_;
  KvPagePool* pool_ = nullptr;
  int64_t n_pages_ = 0;
};

}  // namespace ferrox
