// How do query rows attend to the pages of one KV head?
//
// Positions are taken in tiles of kAttentionTile that start at absolute multiples of it, whatever the page size. A span
// of kAttentionSpanTiles tiles keeps a running (max, sum, weighted V); spans join in order. So a row's result depends
// on its own query and on K and V, and a long context may be split between threads at spans.
//
// A score is summed in sixteen lanes along the head and then across them, always in the same order. Rows of K are
// widened to floats sixteen at a time, rows of V a tile at a time; all query vectors of the call share them.
namespace ferrox {
namespace {

/// What a row has seen so far: scores' maximum, sum of exp(score - max), and V weighted by it.
struct SoftmaxState {
  float max;
  float sum;
  float* v;
};

inline void clear(int64_t v_pad, SoftmaxState& state) {
  state.max = 0.0f;
  state.sum = 0.0f;
  __builtin_memset(state.v, 0, static_cast<size_t>(v_pad) * 4);
}

/// Joins `part` into `total`; joining an empty part changes nothing.
inline void join(const SoftmaxState& part, int64_t n, SoftmaxState& total) {
  if (part.sum == 0.0f) return;
  if (total.sum == 0.0f) {
    total.max = part.max;
    total.sum = part.sum;
    for (int64_t i = 0; i < n; i += 16) store_f(total.v + i, load_f(part.v + i));
    return;
  }
  const float max = part.max > total.max ? part.max : total.max;
  alignas(64) float factors[16] = {total.max - max, part.max - max};
  store_f(factors, exp(load_f(factors)));
  const F keep = set1_f(factors[0]);
  const F take = set1_f(factors[1]);
  for (int64_t i = 0; i < n; i += 16) {
    store_f(total.v + i, fma(load_f(part.v + i), take, mul(load_f(total.v + i), keep)));
  }
  total.sum = __builtin_fmaf(part.sum, factors[1], total.sum * factors[0]);
  total.max = max;
}

/// Adds a score that takes weight and gives no value. Returns what the weighted V is then to be multiplied with.
inline float join_sink(float sink, const SoftmaxState& total) {
  const float max = total.max > sink ? total.max : sink;
  alignas(64) float factors[16] = {total.max - max, sink - max};
  store_f(factors, exp(load_f(factors)));
  return factors[0] / __builtin_fmaf(total.sum, factors[0], factors[1]);
}

struct AttentionScratch {
  float* k;        ///< [16 positions][k_pad]
  float* v;        ///< [64 positions][v_pad]
  float* scores;   ///< [queries + 1][64 positions]
  float* q;        ///< [queries][k_pad]
  float* span_v;   ///< [queries][v_pad]
  float* total_v;  ///< [queries][v_pad]
};

inline AttentionScratch split_scratch(float* p, int64_t k_pad, int64_t v_pad) {
  AttentionScratch s;
  s.k = p;
  s.v = s.k + 16 * k_pad;
  s.scores = s.v + kAttentionTile * v_pad;
  s.q = s.scores + (kAttentionRows + 1) * kAttentionTile;
  s.span_v = s.q + kAttentionRows * k_pad;
  s.total_v = s.span_v + kAttentionRows * v_pad;
  return s;
}

/// One side of what a call reads: K or V.
struct RowSource {
  const std::byte* base;
  DType dtype;
  int64_t dim;
  int64_t row_bytes;
};

/// visit(position, n, bytes) for each run of rows of [first, last) that lie side by side in a page.
template <class Visit>
inline void for_each_run(const AttentionArgs& args, const RowSource& source, int64_t first, int64_t last,
                         const Visit& visit) {
  const int64_t page_rows = args.kv.page_rows;
  for (int64_t position = first; position < last;) {
    const int64_t index = position / page_rows;
    const int64_t row = position - index * page_rows;
    const int64_t n = page_rows - row < last - position ? page_rows - row : last - position;
    const int64_t page = args.pages.data()[index];
    const int64_t row_in_store = (page * args.kv.n_kv_heads + args.kv_head) * page_rows + row;
    visit(position, n, source.base + row_in_store * source.row_bytes);
    position += n;
  }
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
  for_each_run(args, source, from, to, [&](int64_t position, int64_t n_rows, const std::byte* rows) {
    float* widened = out + (position - start) * pad;
    if (are_plain) return widen_halves(rows, n_rows * source.dim, widened);
    for (int64_t i = 0; i < n_rows; ++i) widen_row(source, rows + i * source.row_bytes, widened + i * pad);
  });
}

/// Rows that the next tile will read. They are asked for one by one between multiplications: many at once would wait
/// for each other.
struct Ahead {
  const std::byte* rows[kAttentionTile] = {};
  int n = 0;
  int64_t row_bytes = 0;

  // Inlined by order: the compiler takes a function that only prefetches for one without effect and drops its calls.
  [[gnu::always_inline]] void prefetch(int i) const {
    if (i >= n) return;
    for (int64_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(rows[i] + at, 0, 2);
  }
};

inline void look_ahead(const AttentionArgs& args, const RowSource& source, int64_t first, int64_t last, Ahead& ahead) {
  ahead.n = 0;
  ahead.row_bytes = source.row_bytes;
  for_each_run(args, source, first, last, [&](int64_t, int64_t n_rows, const std::byte* rows) {
    for (int64_t i = 0; i < n_rows; ++i) ahead.rows[ahead.n++] = rows + i * source.row_bytes;
  });
}

/// Adds kVectors vectors' products of two queries with eight rows of K.
template <int kVectors>
inline void add_products(const float* k, int64_t k_pad, const float* q0, const float* q1, F* sum) {
  F a[kVectors];
  F b[kVectors];
  for (int j = 0; j < kVectors; ++j) {
    a[j] = load_f(q0 + 16 * j);
    b[j] = load_f(q1 + 16 * j);
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      const F row = load_f(k + i * k_pad + 16 * j);
      sum[i] = fma(row, a[j], sum[i]);
      sum[i + 8] = fma(row, b[j], sum[i + 8]);
    }
  }
}

/// Scores of two queries against eight rows of K.
inline void score_rows(const float* k, int64_t k_pad, const float* q0, const float* q1, float* scores0,
                       float* scores1) {
  F sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = zero_f();
  int64_t d = 0;
  for (; d + 64 <= k_pad; d += 64) add_products<4>(k + d, k_pad, q0 + d, q1 + d, sum);
  for (; d < k_pad; d += 16) add_products<1>(k + d, k_pad, q0 + d, q1 + d, sum);
  alignas(64) float both[16];
  store_f(both, hsum16(sum));
  __builtin_memcpy(scores0, both, 32);
  __builtin_memcpy(scores1, both + 8, 32);
}

/// Scores of every query against the tile's positions, before scale and mask.
inline void score_tile(const AttentionArgs& args, const AttentionScratch& s, int n_queries, int64_t tile, int64_t first,
                       int64_t last, const Ahead& ahead) {
  const RowSource keys{args.kv.k, args.kv.k_type, args.kv.k_dim, args.kv.k_row_bytes};
  const int64_t k_pad = round_up_16(args.kv.k_dim);
  for (int group = 0; group < kAttentionTile && tile + group < last; group += 16) {
    for (int i = group; i < group + 16; ++i) ahead.prefetch(i);
    widen_rows(args, keys, tile + group, 16, first, last, s.k);
    for (int query = 0; query < n_queries; query += 2) {
      const bool is_pair = query + 1 < n_queries;
      const float* q0 = s.q + query * k_pad;
      const float* q1 = is_pair ? q0 + k_pad : q0;
      float* scores0 = s.scores + query * kAttentionTile + group;
      float* scores1 = scores0 + kAttentionTile;  // there is room for one query more
      score_rows(s.k, k_pad, q0, q1, scores0, scores1);
      score_rows(s.k + 8 * k_pad, k_pad, q0, q1, scores0 + 8, scores1 + 8);
    }
  }
}

/// Takes slope * distance off the scores of a tile that starts `distance` positions before the query.
inline void add_slope(float slope, int64_t distance, float* scores) {
  for (int i = 0; i < kAttentionTile; ++i) {
    scores[i] = __builtin_fmaf(-slope, static_cast<float>(distance - i), scores[i]);
  }
}

/// Positions of a tile that a query sees: [first, last) of 64.
struct Seen {
  int first;
  int last;
};

/// Scales one query's scores of a tile that it sees whole, without cap or slope. Returns their maximum.
inline float scale_scores(float scale, float* scores) {
  F top = set1_f(-__builtin_inff());
  for (int p = 0; p < kAttentionTile; p += 16) {
    const F x = mul(load_f(scores + p), set1_f(scale));
    store_f(scores + p, x);
    top = max_f(top, x);
  }
  return hmax(top);
}

/// Scales, caps and masks one query's scores. Returns their maximum.
inline float finish_scores(const AttentionArgs& args, int head, int64_t distance, Seen seen, float* scores) {
  if (args.softcap != 0.0f) {
    for (int p = 0; p < kAttentionTile; p += 16) {
      const F x = mul(load_f(scores + p), set1_f(args.scale / args.softcap));
      store_f(scores + p, mul(tanh(x), set1_f(args.softcap)));
    }
  } else {
    scale_row(args.scale, kAttentionTile, scores);
  }
  if (args.slopes != nullptr) add_slope(args.slopes[head], distance, scores);
  for (int i = 0; i < seen.first; ++i) scores[i] = -__builtin_inff();
  for (int i = seen.last; i < kAttentionTile; ++i) scores[i] = -__builtin_inff();
  F top = set1_f(-__builtin_inff());
  for (int p = 0; p < kAttentionTile; p += 16) top = max_f(top, load_f(scores + p));
  return hmax(top);
}

/// scores = exp(scores - max). Returns their sum.
inline float weigh_scores(float max, float* scores) {
  F sum = zero_f();
  for (int p = 0; p < kAttentionTile; p += 16) {
    const F weight = exp(sub(load_f(scores + p), set1_f(max)));
    store_f(scores + p, weight);
    sum = add(sum, weight);
  }
  return hsum(sum);
}

/// Queries that are weighed together.
constexpr int kQueryBlock = 4;

/// out[query] += V of positions [first, last), weighted; positions in order.
template <int kQueries, int kVectors>
inline void add_weighted(const float* weights, const float* v, int64_t v_pad, Seen seen, const Ahead& ahead,
                         float* out) {
  F sum[kQueries][kVectors];
  for (int q = 0; q < kQueries; ++q) {
    for (int i = 0; i < kVectors; ++i) sum[q][i] = load_f(out + q * v_pad + i * 16);
  }
  for (int p = seen.first; p < seen.last; ++p) {
    ahead.prefetch(p);
    F row[kVectors];
    for (int i = 0; i < kVectors; ++i) row[i] = load_f(v + p * v_pad + i * 16);
    for (int q = 0; q < kQueries; ++q) {
      const F w = set1_f(weights[q * kAttentionTile + p]);
      for (int i = 0; i < kVectors; ++i) sum[q][i] = fma(row[i], w, sum[q][i]);
    }
  }
  for (int q = 0; q < kQueries; ++q) {
    for (int i = 0; i < kVectors; ++i) store_f(out + q * v_pad + i * 16, sum[q][i]);
  }
}

template <int kQueries>
inline void add_weighted_rows(const float* weights, const float* v, int64_t v_pad, Seen seen, const Ahead& ahead,
                              float* out) {
  const Ahead nothing{};
  int64_t i = 0;
  for (; i + 16 * kWeighedVectors <= v_pad; i += 16 * kWeighedVectors) {
    add_weighted<kQueries, kWeighedVectors>(weights, v + i, v_pad, seen, i == 0 ? ahead : nothing, out + i);
  }
  for (; i < v_pad; i += 16) add_weighted<kQueries, 1>(weights, v + i, v_pad, seen, nothing, out + i);
}

/// One call's queries on their way through the tiles.
struct Attending {
  const AttentionArgs& args;
  AttentionScratch s;
  int n_queries;
  SoftmaxState span[kAttentionRows];
  SoftmaxState total[kAttentionRows];

  int64_t position_of(int query) const { return args.first_position + query / args.n_heads; }
  int64_t window_start(int64_t position) const {
    const int64_t start = args.window > 0 ? position + 1 - args.window : 0;
    return start > 0 ? start : 0;
  }
  /// An empty range when the query sees nothing of the tile.
  Seen seen(int query, int64_t tile) const {
    const int64_t position = position_of(query);
    const int64_t first = window_start(position) - tile;
    const int64_t last = position + 1 - tile;
    const auto clamp = [](int64_t i) { return static_cast<int>(i < 0 ? 0 : i > kAttentionTile ? kAttentionTile : i); };
    return {clamp(first), clamp(last)};
  }
};

/// Weighs the tile for `n` queries from `query` on, and adds it to their spans.
inline void weigh_block(Attending& a, int query, int n, int64_t tile, const Ahead& ahead) {
  const int64_t v_pad = round_up_16(a.args.kv.v_dim);
  Seen seen[kQueryBlock];
  Seen common{0, kAttentionTile};
  float max[kQueryBlock];
  alignas(64) float factors[16] = {};
  const bool has_shape = a.args.softcap != 0.0f || a.args.slopes != nullptr;
  for (int i = 0; i < n; ++i) {
    seen[i] = a.seen(query + i, tile);
    common.first = seen[i].first > common.first ? seen[i].first : common.first;
    common.last = seen[i].last < common.last ? seen[i].last : common.last;
    if (seen[i].first >= seen[i].last) continue;
    const SoftmaxState& span = a.span[query + i];
    float* scores = a.s.scores + (query + i) * kAttentionTile;
    const bool is_plain = seen[i].first == 0 && seen[i].last == kAttentionTile && !has_shape;
    const float top = is_plain ? scale_scores(a.args.scale, scores)
                               : finish_scores(a.args, (query + i) % a.args.n_heads, a.position_of(query + i) - tile,
                                               seen[i], scores);
    max[i] = span.sum != 0.0f && span.max > top ? span.max : top;
    factors[i] = span.sum != 0.0f ? span.max - max[i] : 0.0f;
  }
  store_f(factors, exp(load_f(factors)));
  for (int i = 0; i < n; ++i) {
    if (seen[i].first >= seen[i].last) continue;
    SoftmaxState& span = a.span[query + i];
    const float sum = weigh_scores(max[i], a.s.scores + (query + i) * kAttentionTile);
    span.sum = __builtin_fmaf(span.sum, factors[i], sum);
    span.max = max[i];
    if (factors[i] != 1.0f) scale_row(factors[i], v_pad, span.v);
  }
  // Only positions that a query sees: a weight of 0 would still let an infinity or NaN through.
  const bool together = n == kQueryBlock && common.first < common.last;
  for (int i = 0; i < n; ++i) {
    const Seen before{seen[i].first, together ? common.first : seen[i].last};
    add_weighted_rows<1>(a.s.scores + (query + i) * kAttentionTile, a.s.v, v_pad, before, ahead, a.span[query + i].v);
  }
  if (!together) return;
  add_weighted_rows<kQueryBlock>(a.s.scores + query * kAttentionTile, a.s.v, v_pad, common, ahead, a.span[query].v);
  for (int i = 0; i < n; ++i) {
    const Seen after{common.last, seen[i].last};
    add_weighted_rows<1>(a.s.scores + (query + i) * kAttentionTile, a.s.v, v_pad, after, ahead, a.span[query + i].v);
  }
}

inline void attend(const AttentionArgs& args) {
  const int64_t k_pad = round_up_16(args.kv.k_dim);
  const int64_t v_pad = round_up_16(args.kv.v_dim);
  Attending a{args, split_scratch(args.scratch, k_pad, v_pad), args.n_rows * args.n_heads, {}, {}};
  for (int i = 0; i < a.n_queries; ++i) {
    const float* q = args.q + (i / args.n_heads) * args.q_row_stride + (i % args.n_heads) * args.q_head_stride;
    float* copy = a.s.q + i * k_pad;
    __builtin_memcpy(copy, q, static_cast<size_t>(args.kv.k_dim) * 4);
    for (int64_t d = args.kv.k_dim; d < k_pad; ++d) copy[d] = 0.0f;
    if (args.kv.k_type == DType::kTurbo4) rotate_row(args.kv.k_dim, copy);
    a.span[i].v = a.s.span_v + i * v_pad;
    a.total[i].v = a.s.total_v + i * v_pad;
    clear(v_pad, a.span[i]);
    clear(v_pad, a.total[i]);
  }
  const RowSource keys{args.kv.k, args.kv.k_type, args.kv.k_dim, args.kv.k_row_bytes};
  const RowSource values{args.kv.v, args.kv.v_type, args.kv.v_dim, args.kv.v_row_bytes};
  Ahead k_ahead;
  Ahead v_ahead;
  const Ahead nothing{};
  const int64_t end = args.first_position + args.n_rows;
  const int64_t first = a.window_start(args.first_position);
  for (int64_t tile = first / kAttentionTile * kAttentionTile; tile < end; tile += kAttentionTile) {
    const int64_t next = tile + kAttentionTile;
    const int64_t next_end = next + kAttentionTile < end ? next + kAttentionTile : end;
    look_ahead(args, keys, next, next_end, k_ahead);
    look_ahead(args, values, next, next_end, v_ahead);
    score_tile(args, a.s, a.n_queries, tile, first, end, k_ahead);
    widen_rows(args, values, tile, kAttentionTile, first, end, a.s.v);
    for (int query = 0; query < a.n_queries; query += kQueryBlock) {
      const int left = a.n_queries - query;
      weigh_block(a, query, left < kQueryBlock ? left : kQueryBlock, tile, query == 0 ? v_ahead : nothing);
    }
    if ((tile / kAttentionTile + 1) % kAttentionSpanTiles != 0) continue;
    for (int i = 0; i < a.n_queries; ++i) {
      join(a.span[i], v_pad, a.total[i]);
      clear(v_pad, a.span[i]);
    }
  }
  for (int i = 0; i < a.n_queries; ++i) {
    join(a.span[i], v_pad, a.total[i]);
    const float factor =
        args.sinks == nullptr ? 1.0f / a.total[i].sum : join_sink(args.sinks[i % args.n_heads], a.total[i]);
    scale_row(factor, v_pad, a.total[i].v);
    if (args.kv.v_type == DType::kTurbo4) rotate_row(args.kv.v_dim, a.total[i].v);
    float* out = args.out + (i / args.n_heads) * args.out_row_stride + (i % args.n_heads) * args.out_head_stride;
    __builtin_memcpy(out, a.total[i].v, static_cast<size_t>(args.kv.v_dim) * 4);
  }
}

}  // namespace
}  // namespace ferrox
