#include "kv/kv_budget.h"

#include <algorithm>

#include "base/checked_math.h"
#include "kv/kv_window.h"

namespace ferrox {
namespace {

constexpr int64_t kContextStep = 256;  // a context is reported in round numbers

uint64_t sum(uint64_t a, uint64_t b) { return saturating_add(a, b); }

/// Bytes of all layers, each with rows(shape) rows.
template <class Rows>
uint64_t bytes_with(const KvLayout& layout, const Rows& rows) {
  uint64_t total = saturating_mul(static_cast<uint64_t>(layout.state_floats), sizeof(float));
  for (const KvLayerShape& shape : layout.layers) {
    const uint64_t row_bytes = kv_position_bytes(shape, layout.k_type, layout.v_type);
    total = sum(total, saturating_mul(row_bytes, static_cast<uint64_t>(rows(shape))));
  }
  return total;
}

int64_t most_rows(const KvLayerShape& shape, int64_t t) {
  return shape.window == 0 ? t : std::min(t, KvWindow::with_default_slack(shape.window).max_rows());
}

}  // namespace

uint64_t elements_grouped(uint64_t n_kv_heads, uint64_t k_dim, uint64_t v_dim) {
  return saturating_mul(n_kv_heads, sum(k_dim, v_dim));
}

uint64_t elements_latent(uint64_t kv_lora_rank, uint64_t rope_dim) { return sum(kv_lora_rank, rope_dim); }

uint64_t elements_expanded(uint64_t n_heads, uint64_t nope_dim, uint64_t rope_dim, uint64_t v_dim) {
  return saturating_mul(n_heads, sum(sum(nope_dim, rope_dim), v_dim));
}

uint64_t kv_full_bytes(const KvLayout& layout, int64_t t) {
  return bytes_with(layout, [t](const KvLayerShape&) { return t; });
}

uint64_t kv_resting_bytes(const KvLayout& layout, int64_t t) {
  return bytes_with(layout, [t](const KvLayerShape& shape) {
    return shape.window == 0 ? t : KvWindow::with_default_slack(shape.window).rows_after(t);
  });
}

uint64_t kv_peak_bytes(const KvLayout& layout, int64_t t) {
  uint64_t largest_shortfall = 0;
  for (const KvLayerShape& shape : layout.layers) {
    const auto missing = static_cast<uint64_t>(t - most_rows(shape, t));
    largest_shortfall =
        std::max(largest_shortfall, saturating_mul(missing, kv_position_bytes(shape, layout.k_type, layout.v_type)));
  }
  return sum(bytes_with(layout, [t](const KvLayerShape& shape) { return most_rows(shape, t); }), largest_shortfall);
}

int64_t largest_context(const std::function<uint64_t(int64_t t)>& bytes, uint64_t available_bytes,
                        int64_t trained_context) {
  if (trained_context <= 0 || bytes(trained_context) <= available_bytes) return std::max<int64_t>(trained_context, 0);
  int64_t fits = 0;
  int64_t too_long = trained_context;
  while (too_long - fits > 1) {
    const int64_t middle = fits + (too_long - fits) / 2;
    (bytes(middle) <= available_bytes ? fits : too_long) = middle;
  }
  return fits < kContextStep ? fits : fits / kContextStep * kContextStep;
}

}  // namespace ferrox
