// How do query rows attend to the pages of one KV head?
//
// Positions are taken in tiles of kAttentionTile that start at absolute multiples of it, whatever the page size. A span
// of kAttentionSpanTiles tiles keeps a running (max, sum, weighted V); spans join in order. So a row's result depends
// on its own query and on K and V, and a long context may be split between threads at spans.
//
// Rows of K and V are made floats a tile at a time; all query vectors of the call share them.
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

/// Queries whose scores become weights together: one exponential serves all their factors.
constexpr int kSoftmaxBlock = 16;

/// Turns the tile's scores of `n` queries from `query` on into weights, and scales what their spans hold so far.
inline void weigh_queries(Attending& a, int query, int n, int64_t tile) {
  const int64_t v_pad = round_up_16(a.args.kv.v_dim);
  float max[kSoftmaxBlock];
  alignas(64) float factors[kSoftmaxBlock] = {};
  const bool has_shape = a.args.softcap != 0.0f || a.args.slopes != nullptr;
  for (int i = 0; i < n; ++i) {
    const Seen seen = a.seen(query + i, tile);
    if (seen.first >= seen.last) continue;
    const SoftmaxState& span = a.span[query + i];
    float* scores = a.s.scores + (query + i) * kAttentionTile;
    const bool is_plain = seen.first == 0 && seen.last == kAttentionTile && !has_shape;
    const float top =
        is_plain ? scale_scores(a.args.scale, scores)
                 : finish_scores(a.args, (query + i) % a.args.n_heads, a.position_of(query + i) - tile, seen, scores);
    max[i] = span.sum != 0.0f && span.max > top ? span.max : top;
    factors[i] = span.sum != 0.0f ? span.max - max[i] : 0.0f;
  }
  store_f(factors, exp(load_f(factors)));
  for (int i = 0; i < n; ++i) {
    const Seen seen = a.seen(query + i, tile);
    if (seen.first >= seen.last) continue;
    SoftmaxState& span = a.span[query + i];
    const float sum = weigh_scores(max[i], a.s.scores + (query + i) * kAttentionTile);
    span.sum = __builtin_fmaf(span.sum, factors[i], sum);
    span.max = max[i];
    if (factors[i] != 1.0f) scale_row(factors[i], v_pad, span.v);
  }
}

/// Adds the tile's V, weighted, to the spans of `n` queries from `query` on, up to kQueryBlock.
inline void add_tile(Attending& a, int query, int n, int64_t tile, const Ahead& ahead) {
  const int64_t v_pad = round_up_16(a.args.kv.v_dim);
  Seen seen[kQueryBlock];
  Seen common{0, kAttentionTile};
  for (int i = 0; i < n; ++i) {
    seen[i] = a.seen(query + i, tile);
    common.first = seen[i].first > common.first ? seen[i].first : common.first;
    common.last = seen[i].last < common.last ? seen[i].last : common.last;
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

/// Where the parts of span `span` lie, a query's behind another's.
inline float* part_of(const AttentionArgs& args, int64_t span, int query) {
  const int64_t n_queries = int64_t{args.n_rows} * args.n_heads;
  return args.parts + ((span - args.first_span) * n_queries + query) * attention_part_floats(args.kv.v_dim);
}

/// Ends a span: it joins what came before, or becomes a part.
inline void close_span(Attending& a, int64_t span) {
  const int64_t v_pad = round_up_16(a.args.kv.v_dim);
  for (int i = 0; i < a.n_queries; ++i) {
    if (a.args.parts == nullptr) {
      join(a.span[i], v_pad, a.total[i]);
    } else {
      float* part = part_of(a.args, span, i);
      __builtin_memcpy(part, a.span[i].v, static_cast<size_t>(v_pad) * 4);
      part[v_pad] = a.span[i].max;
      part[v_pad + 1] = a.span[i].sum;
    }
    clear(v_pad, a.span[i]);
  }
}

/// Divides a query's V by the sum of its weights and writes it to its place.
inline void write_query(const AttentionArgs& args, int query, SoftmaxState& total) {
  const int64_t v_pad = round_up_16(args.kv.v_dim);
  const int head = query % args.n_heads;
  const float factor = args.sinks == nullptr ? 1.0f / total.sum : join_sink(args.sinks[head], total);
  scale_row(factor, v_pad, total.v);
  if (args.kv.v_type == DType::kTurbo4) rotate_row(args.kv.v_dim, total.v);
  float* out = args.out + (query / args.n_heads) * args.out_row_stride + head * args.out_head_stride;
  __builtin_memcpy(out, total.v, static_cast<size_t>(args.kv.v_dim) * 4);
}

/// Copies the queries to where they are whole vectors, and empties their states.
inline void begin_queries(Attending& a) {
  const AttentionArgs& args = a.args;
  const int64_t k_pad = round_up_16(args.kv.k_dim);
  const int64_t v_pad = round_up_16(args.kv.v_dim);
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
}

inline void attend(const AttentionArgs& args) {
  Attending a{args,
              split_scratch(args.scratch, round_up_16(args.kv.k_dim), round_up_16(args.kv.v_dim)),
              args.n_rows * args.n_heads,
              {},
              {}};
  begin_queries(a);
  const RowSource keys{args.kv.k, args.kv.k_type, args.kv.k_dim, args.kv.k_row_bytes};
  const RowSource values{args.kv.v, args.kv.v_type, args.kv.v_dim, args.kv.v_row_bytes};
  Ahead k_ahead;
  Ahead v_ahead;
  const Ahead nothing{};
  const int64_t end = args.first_position + args.n_rows;
  const int64_t first = a.window_start(args.first_position);
  int64_t tile = first / kAttentionTile * kAttentionTile;
  int64_t stop = end;
  if (args.parts != nullptr) {
    tile = args.first_span * kAttentionSpan > tile ? args.first_span * kAttentionSpan : tile;
    stop = args.last_span * kAttentionSpan < end ? args.last_span * kAttentionSpan : end;
  }
  for (; tile < stop; tile += kAttentionTile) {
    const int64_t next = tile + kAttentionTile;
    const int64_t next_end = next + kAttentionTile < stop ? next + kAttentionTile : stop;
    const KvRows next_rows = next < stop ? own_rows(args, next, next_end) : args.next;
    look_ahead(args.kv, next_rows, keys, k_ahead);
    look_ahead(args.kv, next_rows, values, v_ahead);
    score_tile(args, a.s, a.n_queries, tile, first, end, k_ahead);
    widen_rows(args, values, tile, kAttentionTile, first, end, a.s.v);
    for (int query = 0; query < a.n_queries; query += kSoftmaxBlock) {
      const int left = a.n_queries - query;
      weigh_queries(a, query, left < kSoftmaxBlock ? left : kSoftmaxBlock, tile);
    }
    for (int query = 0; query < a.n_queries; query += kQueryBlock) {
      const int left = a.n_queries - query;
      add_tile(a, query, left < kQueryBlock ? left : kQueryBlock, tile, query == 0 ? v_ahead : nothing);
    }
    if (next >= stop) v_ahead.prefetch_rest(stop - tile);
    if (next % kAttentionSpan == 0 || next >= stop) close_span(a, tile / kAttentionSpan);
  }
  if (args.parts != nullptr) return;
  for (int i = 0; i < a.n_queries; ++i) write_query(args, i, a.total[i]);
}

inline void join_attention(const AttentionArgs& args) {
  const int64_t v_pad = round_up_16(args.kv.v_dim);
  const AttentionScratch s = split_scratch(args.scratch, round_up_16(args.kv.k_dim), v_pad);
  for (int i = 0; i < args.n_rows * args.n_heads; ++i) {
    SoftmaxState total{};
    total.v = s.total_v;
    clear(v_pad, total);
    for (int64_t span = args.first_span; span < args.last_span; ++span) {
      float* part = part_of(args, span, i);
      join({part[v_pad], part[v_pad + 1], part}, v_pad, total);
    }
    write_query(args, i, total);
  }
}

}  // namespace
}  // namespace ferrox
