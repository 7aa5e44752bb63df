// How do queries meet the keys of a tile, and scores become weights? A score is summed along the head, element by
// element; lanes are positions. Rows of K are widened to floats and turned sixteen at a time.
namespace ferrox {
namespace {

struct AttentionScratch {
  float* rows;     ///< [16 positions][k_pad]
  float* k;        ///< [k_pad][64 positions]
  float* v;        ///< [64 positions][v_pad]
  float* scores;   ///< [queries][64 positions]
  float* q;        ///< [queries][k_pad]
  float* span_v;   ///< [queries][v_pad]
  float* total_v;  ///< [queries][v_pad]
};

inline AttentionScratch split_scratch(float* p, int64_t k_pad, int64_t v_pad) {
  AttentionScratch s;
  s.rows = p;
  s.k = s.rows + 16 * k_pad;
  s.v = s.k + kAttentionTile * k_pad;
  s.scores = s.v + kAttentionTile * v_pad;
  s.q = s.scores + kAttentionRows * kAttentionTile;
  s.span_v = s.q + kAttentionRows * k_pad;
  s.total_v = s.span_v + kAttentionRows * v_pad;
  return s;
}

/// Lanes are positions: rows of K that were widened to [n][k_pad] become columns of [k_pad][64].
inline void turn_rows(const float* rows, int64_t k_pad, float* columns) {
  for (int64_t d = 0; d < k_pad; d += 16) {
    I lanes[16];
    load_lanes(reinterpret_cast<const uint8_t*>(rows + d), k_pad * 4, lanes);
    for (int i = 0; i < 16; ++i) store_f(columns + (d + i) * kAttentionTile, bits_to_float(lanes[i]));
  }
}

/// The same of 16 rows of F16 numbers, a whole number of 32, as they lie: pairs are turned first and then widened.
inline void turn_halves(const std::byte* rows, int64_t row_bytes, int64_t dim, float* columns) {
  for (int64_t d = 0; d < dim; d += 32) {
    I pairs[16];
    load_lanes(reinterpret_cast<const uint8_t*>(rows) + 2 * d, row_bytes, pairs);
    for (int i = 0; i < 16; ++i) {
      store_f(columns + (d + 2 * i) * kAttentionTile, half_lanes(pairs[i]));
      store_f(columns + (d + 2 * i + 1) * kAttentionTile, half_lanes(shift_right_logical<16>(pairs[i])));
    }
  }
}

/// K of the 16 positions from `start` on as columns; positions outside [first, last) are zeros.
inline void turn_group(const AttentionArgs& args, const RowSource& keys, int64_t start, int64_t first, int64_t last,
                       float* staging, float* columns) {
  const int64_t page_rows = args.kv.page_rows;
  const bool is_whole = start >= first && start + 16 <= last && start % page_rows + 16 <= page_rows;
  if (is_whole && keys.dtype == DType::kF16 && keys.dim % 32 == 0) {
    for_each_run(args.kv, own_rows(args, start, start + 16), keys, [&](int64_t, int64_t, const std::byte* rows) {
      turn_halves(rows, keys.row_bytes, keys.dim, columns);
    });
  } else {
    widen_rows(args, keys, start, 16, first, last, staging);
    turn_rows(staging, round_up_16(keys.dim), columns);
  }
}

/// Scores of kQueries queries against kVectors * 16 positions, before scale and mask.
template <int kQueries, int kVectors>
inline void score_queries(const float* k, int64_t k_dim, const float* q, int64_t q_stride, float* scores) {
  F sum[kQueries][kVectors];
  for (int i = 0; i < kQueries; ++i) {
    for (int v = 0; v < kVectors; ++v) sum[i][v] = zero_f();
  }
  for (int64_t d = 0; d < k_dim; ++d) {
    F row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = load_f(k + d * kAttentionTile + 16 * v);
    for (int i = 0; i < kQueries; ++i) {
      const F element = set1_f(q[i * q_stride + d]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = fma(row[v], element, sum[i][v]);
    }
  }
  for (int i = 0; i < kQueries; ++i) {
    for (int v = 0; v < kVectors; ++v) store_f(scores + i * kAttentionTile + 16 * v, sum[i][v]);
  }
}

/// Of all queries against kVectors * 16 positions. Six queries' sums fill what registers there are.
template <int kVectors>
inline void score_columns(const AttentionScratch& s, int64_t k_dim, int n_queries, int first) {
  const int64_t k_pad = round_up_16(k_dim);
  const auto from = [&](int query) { return s.q + query * k_pad; };
  const auto to = [&](int query) { return s.scores + query * kAttentionTile + first; };
  int query = 0;
  for (; query + 6 <= n_queries; query += 6) {
    score_queries<6, kVectors>(s.k + first, k_dim, from(query), k_pad, to(query));
  }
  for (; query + 2 <= n_queries; query += 2) {
    score_queries<2, kVectors>(s.k + first, k_dim, from(query), k_pad, to(query));
  }
  if (query < n_queries) score_queries<1, kVectors>(s.k + first, k_dim, from(query), k_pad, to(query));
}

/// Scores of every query against the tile's positions, before scale and mask.
inline void score_tile(const AttentionArgs& args, const AttentionScratch& s, int n_queries, int64_t tile, int64_t first,
                       int64_t last, const Ahead& ahead) {
  const RowSource keys{args.kv.k, args.kv.k_type, args.kv.k_dim, args.kv.k_row_bytes};
  const int n = last - tile < kAttentionTile ? static_cast<int>(last - tile) : kAttentionTile;
  for (int group = 0; group < n; group += 16) {
    for (int i = group; i < group + 16; ++i) ahead.prefetch(i);
    turn_group(args, keys, tile + group, first, last, s.rows, s.k + group);
  }
  int group = 0;
  for (; group + 16 * kWeighedVectors <= round_up_16(n); group += 16 * kWeighedVectors) {
    score_columns<kWeighedVectors>(s, args.kv.k_dim, n_queries, group);
  }
  for (; group < n; group += 16) score_columns<1>(s, args.kv.k_dim, n_queries, group);
  ahead.prefetch_rest(group);
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

}  // namespace
}  // namespace ferrox
