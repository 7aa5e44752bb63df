// How do query rows attend to the pages of one KV head?
//
// Positions are taken in tiles of kAttentionTile that start at absolute multiples of it, whatever the page size. A tile
// gives (max, sum, weighted V); tiles join into a span of kAttentionSpanTiles, spans join in order. So a row's result
// depends on its own query and on K and V, and a long context may be split between threads at spans.
//
// K of a tile is turned once into lanes = positions and V once into floats; all query vectors of the call share them.
namespace ferrox {
namespace {

/// What a row has seen so far: scores' maximum, sum of exp(score - max), and V weighted by it.
struct SoftmaxState {
  float max;
  float sum;
  float* v;
};

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
  float* k_lanes;  ///< [k_dim][64 positions]
  float* rows;     ///< [64 positions][k_dim], then [64][v_dim]: what is being turned
  float* v;        ///< [64 positions][v_dim]
  float* scores;   ///< [16 queries][64 positions]
  float* q;        ///< [16 queries][k_dim]
  float* span_v;   ///< [16 queries][v_dim]
  float* total_v;  ///< [16 queries][v_dim]
};

inline AttentionScratch split_scratch(float* p, int64_t k_pad, int64_t v_pad) {
  AttentionScratch s;
  s.k_lanes = p;
  s.rows = s.k_lanes + kAttentionTile * k_pad;
  s.v = s.rows + kAttentionTile * k_pad;
  s.scores = s.v + kAttentionTile * v_pad;
  s.q = s.scores + kAttentionRows * kAttentionTile;
  s.span_v = s.q + kAttentionRows * k_pad;
  s.total_v = s.span_v + kAttentionRows * v_pad;
  return s;
}

/// Positions [first, last) of the tile into scratch; lanes outside hold zeros.
inline void load_tile(const AttentionArgs& args, int64_t tile, int64_t first, int64_t last, const AttentionScratch& s) {
  const int64_t k_pad = round_up_16(args.kv.k_dim);
  const int64_t v_pad = round_up_16(args.kv.v_dim);
  for (int64_t i = 0; i < kAttentionTile; ++i) {
    const int64_t position = tile + i;
    float* k_row = s.rows + i * k_pad;
    float* v_row = s.v + i * v_pad;
    if (position < first || position >= last) {
      __builtin_memset(k_row, 0, static_cast<size_t>(k_pad) * 4);
      __builtin_memset(v_row, 0, static_cast<size_t>(v_pad) * 4);
      continue;
    }
    const int32_t page = args.pages.data()[position / args.kv.page_rows];
    const int row = static_cast<int>(position % args.kv.page_rows);
    load_row(args.kv.k_row(page, args.kv_head, row), args.kv.k_dim, args.kv.k_type, k_row);
    load_row(args.kv.v_row(page, args.kv_head, row), args.kv.v_dim, args.kv.v_type, v_row);
    for (int64_t j = args.kv.k_dim; j < k_pad; ++j) k_row[j] = 0.0f;
    for (int64_t j = args.kv.v_dim; j < v_pad; ++j) v_row[j] = 0.0f;
  }
  alignas(64) float block[16][16];
  for (int64_t i = 0; i < kAttentionTile; i += 16) {
    for (int64_t d = 0; d < k_pad; d += 16) {
      transpose16(reinterpret_cast<const uint8_t*>(s.rows + i * k_pad + d), k_pad * 4,
                  reinterpret_cast<uint8_t*>(block));
      for (int64_t j = 0; j < 16; ++j) store_f(s.k_lanes + (d + j) * kAttentionTile + i, load_f(block[j]));
    }
  }
}

/// Scores of kQueries query vectors against the tile's 64 positions, before masking.
template <int kQueries>
inline void score_tile(const AttentionScratch& s, int first_query, int64_t k_dim, int64_t k_pad) {
  F sum[kQueries][4];
  for (int q = 0; q < kQueries; ++q) {
    for (int p = 0; p < 4; ++p) sum[q][p] = zero_f();
  }
  for (int64_t d = 0; d < k_dim; ++d) {
    F k[4];
    for (int p = 0; p < 4; ++p) k[p] = load_f(s.k_lanes + d * kAttentionTile + p * 16);
    for (int q = 0; q < kQueries; ++q) {
      const F x = set1_f(s.q[(first_query + q) * k_pad + d]);
      for (int p = 0; p < 4; ++p) sum[q][p] = fma(k[p], x, sum[q][p]);
    }
  }
  for (int q = 0; q < kQueries; ++q) {
    for (int p = 0; p < 4; ++p) store_f(s.scores + (first_query + q) * kAttentionTile + p * 16, sum[q][p]);
  }
}

/// Takes slope * distance off the scores of a tile that starts `distance` positions before the query.
inline void add_slope(float slope, int64_t distance, float* scores) {
  for (int i = 0; i < kAttentionTile; ++i) {
    scores[i] = __builtin_fmaf(-slope, static_cast<float>(distance - i), scores[i]);
  }
}

/// Scales, caps and masks one query's scores, and turns them into weights. Returns the tile's (max, sum).
inline SoftmaxState weigh_tile(const AttentionArgs& args, int head, float* scores, int64_t tile, int64_t first,
                               int64_t last) {
  if (args.softcap != 0.0f) {
    for (int p = 0; p < kAttentionTile; p += 16) {
      const F x = mul(load_f(scores + p), set1_f(args.scale / args.softcap));
      store_f(scores + p, mul(tanh(x), set1_f(args.softcap)));
    }
  } else {
    scale_row(args.scale, kAttentionTile, scores);
  }
  if (args.slopes != nullptr) add_slope(args.slopes[head], last - 1 - tile, scores);
  for (int64_t i = 0; i < kAttentionTile; ++i) {
    if (tile + i < first || tile + i >= last) scores[i] = -__builtin_inff();
  }
  F top = load_f(scores);
  for (int p = 16; p < kAttentionTile; p += 16) top = max_f(top, load_f(scores + p));
  SoftmaxState state{hmax(top), 0.0f, nullptr};
  F sum = zero_f();
  for (int p = 0; p < kAttentionTile; p += 16) {
    const F weight = exp(sub(load_f(scores + p), set1_f(state.max)));
    store_f(scores + p, weight);
    sum = add(sum, weight);
  }
  state.sum = hsum(sum);
  return state;
}

/// V weighted by one query's weights, positions in order. Only those that the query sees: a weight of 0 would still let
/// an infinity or NaN through.
template <int kVectors>
inline void weigh_v(const float* weights, const float* v, int64_t v_pad, int64_t first, int64_t last, float* out) {
  F sum[kVectors];
  for (int i = 0; i < kVectors; ++i) sum[i] = zero_f();
  for (int64_t p = first; p < last; ++p) {
    const F w = set1_f(weights[p]);
    for (int i = 0; i < kVectors; ++i) sum[i] = fma(load_f(v + p * v_pad + i * 16), w, sum[i]);
  }
  for (int i = 0; i < kVectors; ++i) store_f(out + i * 16, sum[i]);
}

inline void weigh_v_row(const float* weights, const float* v, int64_t v_pad, int64_t first, int64_t last, float* out) {
  int64_t i = 0;
  for (; i + 64 <= v_pad; i += 64) weigh_v<4>(weights, v + i, v_pad, first, last, out + i);
  for (; i < v_pad; i += 16) weigh_v<1>(weights, v + i, v_pad, first, last, out + i);
}

inline void attend(const AttentionArgs& args) {
  const int64_t k_pad = round_up_16(args.kv.k_dim);
  const int64_t v_pad = round_up_16(args.kv.v_dim);
  const AttentionScratch s = split_scratch(args.scratch, k_pad, v_pad);
  const int n_queries = args.n_rows * args.n_heads;
  SoftmaxState span[kAttentionRows];
  SoftmaxState total[kAttentionRows];
  for (int i = 0; i < n_queries; ++i) {
    const float* q = args.q + (i / args.n_heads) * args.q_row_stride + (i % args.n_heads) * args.q_head_stride;
    __builtin_memcpy(s.q + i * k_pad, q, static_cast<size_t>(args.kv.k_dim) * 4);
    span[i] = {0.0f, 0.0f, s.span_v + i * v_pad};
    total[i] = {0.0f, 0.0f, s.total_v + i * v_pad};
  }
  const int64_t last_position = args.first_position + args.n_rows - 1;
  const auto window_start = [&](int64_t position) {
    const int64_t start = args.window > 0 ? position + 1 - args.window : 0;
    return start > 0 ? start : 0;
  };
  alignas(64) float tile_v[1024];
  for (int64_t tile = window_start(args.first_position) / kAttentionTile * kAttentionTile; tile <= last_position;
       tile += kAttentionTile) {
    load_tile(args, tile, window_start(args.first_position), last_position + 1, s);
    int query = 0;
    for (; query + 4 <= n_queries; query += 4) score_tile<4>(s, query, args.kv.k_dim, k_pad);
    for (; query < n_queries; ++query) score_tile<1>(s, query, args.kv.k_dim, k_pad);
    const bool ends_span = (tile / kAttentionTile + 1) % kAttentionSpanTiles == 0;
    for (int i = 0; i < n_queries; ++i) {
      const int64_t position = args.first_position + i / args.n_heads;
      const int64_t start = window_start(position);
      if (tile <= position && tile + kAttentionTile > start) {
        float* scores = s.scores + i * kAttentionTile;
        SoftmaxState part = weigh_tile(args, i % args.n_heads, scores, tile, start, position + 1);
        part.v = tile_v;
        const int64_t seen_from = start > tile ? start - tile : 0;
        const int64_t seen_to = position + 1 - tile < kAttentionTile ? position + 1 - tile : kAttentionTile;
        weigh_v_row(scores, s.v, v_pad, seen_from, seen_to, tile_v);
        join(part, v_pad, span[i]);
      }
      if (ends_span) {
        join(span[i], v_pad, total[i]);
        span[i].sum = 0.0f;
      }
    }
  }
  for (int i = 0; i < n_queries; ++i) {
    join(span[i], v_pad, total[i]);
    const float factor =
        args.sinks == nullptr ? 1.0f / total[i].sum : join_sink(args.sinks[i % args.n_heads], total[i]);
    scale_row(factor, v_pad, total[i].v);
    float* out = args.out + (i / args.n_heads) * args.out_row_stride + (i % args.n_heads) * args.out_head_stride;
    __builtin_memcpy(out, total[i].v, static_cast<size_t>(args.kv.v_dim) * 4);
  }
}

}  // namespace
}  // namespace ferrox
