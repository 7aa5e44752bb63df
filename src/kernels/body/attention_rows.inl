// How do the rows of K and V that attention reads become floats? They are found through the page table, widened, and
// those of the next tile asked for ahead of time.
namespace ferrox {
namespace {

/// One side of what a call reads: K or V.
struct RowSource {
  const std::byte* base;
  DType dtype;
  int64_t dim;
  int64_t row_bytes;
};

/// visit(position, n, bytes) for each run of rows that lie side by side in a page.
template <class Visit>
inline void for_each_run(const KvLayerView& kv, const KvRows& rows, const RowSource& source, const Visit& visit) {
  const int64_t page_rows = kv.page_rows;
  for (int64_t position = rows.first; position < rows.last;) {
    const int64_t index = position / page_rows;
    const int64_t row = position - index * page_rows;
    const int64_t n = page_rows - row < rows.last - position ? page_rows - row : rows.last - position;
    const int64_t page = rows.pages.data()[index];
    const int64_t row_in_store = (page * kv.n_kv_heads + rows.kv_head) * page_rows + row;
    visit(position, n, source.base + row_in_store * source.row_bytes);
    position += n;
  }
}

/// Of the call's own KV head.
inline KvRows own_rows(const AttentionArgs& args, int64_t first, int64_t last) {
  return {args.pages, args.kv_head, first, last};
}

/// n rows of numbers of 16 bits, side by side, as floats. Most models: rows of whole vectors.
inline void widen_halves(const std::byte* rows, int64_t n_halves, float* out) {
  const auto* halves = reinterpret_cast<const uint8_t*>(rows);
  for (int64_t i = 0; i < n_halves; i += 64) {
    for (int64_t j = i; j < i + 64; j += 16) store_f(out + j, load_half(halves + 2 * j));
  }
}

inline void widen_row(const RowSource& source, const std::byte* row, float* out) {
  load_row(row, source.dim, source.dtype, out);
  for (int64_t i = source.dim; i < round_up_16(source.dim); ++i) out[i] = 0.0f;
}

/// Positions [first, last) of those from `start` on, widened into [n][pad]; rows outside hold zeros.
inline void widen_rows(const AttentionArgs& args, const RowSource& source, int64_t start, int64_t n, int64_t first,
                       int64_t last, float* out) {
  const int64_t pad = round_up_16(source.dim);
  const int64_t from = first > start ? first : start;
  const int64_t to = last < start + n ? last : start + n;
  if (from > start || to < start + n) __builtin_memset(out, 0, static_cast<size_t>(n * pad) * 4);
  const bool are_plain = source.dtype == DType::kF16 && source.dim % 64 == 0;
  for_each_run(args.kv, own_rows(args, from, to), source, [&](int64_t position, int64_t n_rows, const std::byte* rows) {
    float* widened = out + (position - start) * pad;
    if (are_plain) return widen_halves(rows, n_rows * source.dim, widened);
    for (int64_t i = 0; i < n_rows; ++i) widen_row(source, rows + i * source.row_bytes, widened + i * pad);
  });
}

/// Rows that the next tile will read. They are asked for one by one between multiplications: many at once would wait
/// for each other.
struct Ahead {
  const std::byte* rows[kAttentionTile];
  int n = 0;
  int64_t row_bytes = 0;

  // Inlined by order: the compiler takes a function that only prefetches for one without effect and drops its calls.
  [[gnu::always_inline]] void prefetch(int i) const {
    if (i >= n) return;
    for (int64_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(rows[i] + at, 0, 2);
  }
  /// Those from row `first` on, beside whose like nothing was multiplied.
  [[gnu::always_inline]] void prefetch_rest(int64_t first) const {
    for (auto i = static_cast<int>(first); i < n; ++i) prefetch(i);
  }
};

inline void look_ahead(const KvLayerView& kv, const KvRows& next, const RowSource& source, Ahead& ahead) {
  ahead.n = 0;
  ahead.row_bytes = source.row_bytes;
  for_each_run(kv, next, source, [&](int64_t, int64_t n_rows, const std::byte* rows) {
    for (int64_t i = 0; i < n_rows; ++i) ahead.rows[ahead.n++] = rows + i * source.row_bytes;
  });
}

}  // namespace
}  // namespace ferrox
