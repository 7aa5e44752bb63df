// Does attention over pages equal the formula in double precision, and do page size, grouping of rows and heads, and
// instruction set leave its bits alone?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "base/half.h"
#include "kernels/guarded_memory.h"
#include "kernels/rounding.h"
#include "kernels/scalar_kv_row.h"
#include "kernels/supported_isas.h"
#include "support/random_weights.h"
#include "tensor/kv_type.h"

namespace ferrox {
namespace {

using testing::Guarded;
using testing::kExpError;
using testing::kHalfUlp;

/// Query rows at positions [first, first + n_rows) over K and V of every position up to the last.
struct Problem {
  int k_dim = 64;
  int v_dim = 64;
  int n_heads = 2;
  int n_rows = 3;
  int64_t first = 0;
  int window = 0;
  float softcap = 0.0f;
  DType dtype = DType::kF32;
  float size = 1.0f;                  ///< of queries
  std::optional<DType> v_dtype = {};  ///< like K's otherwise
  std::vector<float> sinks = {};      ///< [n_heads] or empty
  std::vector<float> slopes = {};     ///< [n_heads] or empty

  DType value_type() const { return v_dtype.value_or(dtype); }
  int64_t n_positions() const { return first + n_rows; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(k_dim)); }
  std::string name() const {
    return fmt::format("k {} v {} heads {} rows {} first {} window {} softcap {} type {}", k_dim, v_dim, n_heads,
                       n_rows, first, window, softcap, static_cast<int>(dtype));
  }
};

/// What a KV row of this type gives back, as it was before any rotation.
std::vector<float> stored(std::vector<float> row, DType dtype) {
  const auto n = static_cast<int64_t>(row.size());
  if (find_kv_type(dtype)->block_elements > 1) {
    const auto back = testing::scalar_load_row(testing::scalar_store_row(row, dtype), n, dtype);
    return dtype == DType::kTurbo4 ? testing::rotated(back) : back;
  }
  for (float& value : row) {
    if (dtype == DType::kF16) value = half_to_float(float_to_half(value));
    if (dtype == DType::kBF16) value = bf16_to_float(float_to_bf16(value));
  }
  return row;
}

/// n_rows random rows of `dim`, as `dtype` gives them back.
struct KeptRows {
  std::vector<float> written;
  std::vector<float> kept;
};
KeptRows make_rows(int64_t n_rows, int64_t dim, DType dtype, uint32_t seed) {
  KeptRows rows{testing::random_floats(n_rows * dim, 1.0f, seed), {}};
  for (int64_t i = 0; i < n_rows; ++i) {
    const auto first = rows.written.begin() + i * dim;
    const std::vector<float> kept = stored({first, first + dim}, dtype);
    rows.kept.insert(rows.kept.end(), kept.begin(), kept.end());
  }
  return rows;
}

struct Inputs {
  std::vector<float> q;  ///< [n_rows][n_heads][k_dim]
  std::vector<float> k;  ///< [n_positions][k_dim], as stored
  std::vector<float> v;  ///< [n_positions][v_dim]
  std::vector<float> written_k;
  std::vector<float> written_v;
};

Inputs make_inputs(const Problem& p) {
  const KeptRows k = make_rows(p.n_positions(), p.k_dim, p.dtype, 2);
  const KeptRows v = make_rows(p.n_positions(), p.v_dim, p.value_type(), 3);
  return {testing::random_floats(int64_t{p.n_rows} * p.n_heads * p.k_dim, p.size, 1), k.kept, v.kept, k.written,
          v.written};
}

/// One KV head of three in pages that lie in a shuffled order; the other heads and unused rows hold NaN. Each page's
/// last byte of the last head is right before a guard page when the head is the last.
class PagedKv {
 public:
  static constexpr int kHeads = 3;
  static constexpr int kHead = 2;

  PagedKv(const KernelTable& table, const Problem& p, const Inputs& in, int page_rows)
      : pages_(page_table(p.n_positions(), page_rows)),
        k_(cells(row_bytes(p.k_dim, p.dtype), page_rows)),
        v_(cells(row_bytes(p.v_dim, p.value_type()), page_rows)) {
    view_ = {k_.data(),
             v_.data(),
             p.dtype,
             p.value_type(),
             page_rows,
             kHeads,
             p.k_dim,
             p.v_dim,
             row_bytes(p.k_dim, p.dtype),
             row_bytes(p.v_dim, p.value_type())};
    for (int64_t position = 0; position < p.n_positions(); ++position) {
      const int32_t page = pages_[static_cast<size_t>(position / page_rows)];
      const int row = static_cast<int>(position % page_rows);
      table.store_row(in.written_k.data() + position * p.k_dim, p.k_dim, p.dtype, view_.k_row(page, kHead, row));
      table.store_row(in.written_v.data() + position * p.v_dim, p.v_dim, p.value_type(), view_.v_row(page, kHead, row));
    }
  }

  const KvLayerView& view() const { return view_; }
  PageTable pages() const { return pages_; }

 private:
  static std::vector<int32_t> page_table(int64_t n_positions, int page_rows) {
    std::vector<int32_t> pages(static_cast<size_t>((n_positions + page_rows - 1) / page_rows));
    std::iota(pages.begin(), pages.end(), 0);
    std::shuffle(pages.begin(), pages.end(), std::mt19937(4));
    return pages;
  }
  static int row_bytes(int dim, DType dtype) {
    const KvType& type = *find_kv_type(dtype);
    return dim / type.block_elements * type.block_bytes;
  }
  std::vector<std::byte> cells(int bytes, int page_rows) const {
    return std::vector<std::byte>(pages_.size() * kHeads * static_cast<size_t>(page_rows * bytes), std::byte{0xff});
  }

  std::vector<int32_t> pages_;
  Guarded<std::byte> k_;
  Guarded<std::byte> v_;
  KvLayerView view_;
};

/// Attends rows [row, row + n_rows) and heads [head, head + n_heads) of the problem.
struct Part {
  int row;
  int n_rows;
  int head;
  int n_heads;
};

/// As one call does it, or span by span, the last first, and joined.
enum class Spans { kTogether, kApart };

void attend_spans_apart(const KernelTable& table, AttentionArgs args, const Problem& p) {
  const int64_t first_read = p.window > 0 ? std::max<int64_t>(0, args.first_position + 1 - p.window) : 0;
  const int64_t first = first_read / kAttentionSpan;
  const int64_t last = (args.first_position + args.n_rows - 1) / kAttentionSpan + 1;
  const int64_t a_span = int64_t{args.n_rows} * args.n_heads * attention_part_floats(p.v_dim);
  const Guarded<float> parts(static_cast<size_t>((last - first) * a_span));
  std::fill_n(parts.data(), (last - first) * a_span, std::numeric_limits<float>::quiet_NaN());
  for (int64_t span = last - 1; span >= first; --span) {
    args.parts = parts.data() + (span - first) * a_span;
    args.first_span = span;
    args.last_span = span + 1;
    table.attend(args);
  }
  args.parts = parts.data();
  args.first_span = first;
  args.last_span = last;
  table.join_attention(args);
}

void attend_part(const KernelTable& table, const Problem& p, const PagedKv& kv, const Part& part, Spans spans,
                 const float* q, float* out) {
  const Guarded<float> scratch(static_cast<size_t>(attention_scratch_floats(p.k_dim, p.v_dim)));
  std::fill_n(scratch.data(), attention_scratch_floats(p.k_dim, p.v_dim), std::numeric_limits<float>::quiet_NaN());
  AttentionArgs args{};
  args.kv = kv.view();
  args.pages = kv.pages();
  args.kv_head = PagedKv::kHead;
  args.n_heads = part.n_heads;
  args.q_head_stride = p.k_dim;
  args.q_row_stride = int64_t{p.n_heads} * p.k_dim;
  args.q = q + part.row * args.q_row_stride + part.head * args.q_head_stride;
  args.out_head_stride = p.v_dim;
  args.out_row_stride = int64_t{p.n_heads} * p.v_dim;
  args.out = out + part.row * args.out_row_stride + part.head * args.out_head_stride;
  args.n_rows = part.n_rows;
  args.first_position = p.first + part.row;
  args.window = p.window;
  args.scale = p.scale();
  args.softcap = p.softcap;
  args.sinks = p.sinks.empty() ? nullptr : p.sinks.data() + part.head;
  args.slopes = p.slopes.empty() ? nullptr : p.slopes.data() + part.head;
  args.scratch = scratch.data();
  if (spans == Spans::kApart) return attend_spans_apart(table, args, p);
  table.attend(args);
}

/// In calls of at most rows_a_call rows and heads_a_call heads. [n_rows][n_heads][v_dim]
std::vector<float> attend(const KernelTable& table, const Problem& p, const Inputs& in, int page_rows,
                          int rows_a_call = 16, int heads_a_call = 16, Spans spans = Spans::kTogether) {
  const PagedKv kv(table, p, in, page_rows);
  const Guarded<float> q(in.q);
  const Guarded<float> out(static_cast<size_t>(p.n_rows * p.n_heads * p.v_dim));
  const int heads = std::min(heads_a_call, p.n_heads);
  const int rows = std::min(rows_a_call, kAttentionRows / heads);
  for (int row = 0; row < p.n_rows; row += rows) {
    for (int head = 0; head < p.n_heads; head += heads) {
      attend_part(table, p, kv, {row, std::min(rows, p.n_rows - row), head, std::min(heads, p.n_heads - head)}, spans,
                  q.data(), out.data());
    }
  }
  return out.copy();
}

/// One query over positions [start, end) in double precision, and how far floats may be from it.
/// Of a float rotation and its inverse here: a rounding for each of up to 7 levels and the scale, twice.
constexpr double kRotationError = 16 * kHalfUlp;

double norm(const float* x, int n) { return std::sqrt(std::inner_product(x, x + n, x, 0.0)); }

struct Judged {
  std::vector<double> out;    ///< [v_dim]
  std::vector<double> bound;  ///< [v_dim]
};

Judged judge(const Problem& p, const Inputs& in, const float* q, size_t head, int64_t start, int64_t end) {
  std::vector<double> scores;
  double score_error = 0.0;
  for (int64_t position = start; position < end; ++position) {
    const float* k = in.k.data() + position * p.k_dim;
    double dot = 0.0;
    double terms = 0.0;
    for (int d = 0; d < p.k_dim; ++d) {
      const double term = double{q[d]} * k[d];
      dot += term;
      terms += std::abs(term);
    }
    double score = dot * p.scale();
    double error = (terms * (p.k_dim + 2) + std::abs(dot)) * p.scale() * kHalfUlp;
    if (p.dtype == DType::kTurbo4) error += kRotationError * norm(q, p.k_dim) * norm(k, p.k_dim) * p.scale();
    if (p.softcap != 0.0f) {
      score = p.softcap * std::tanh(score / p.softcap);
      error += p.softcap * (kExpError / 2 + 8 * kHalfUlp);
    }
    if (!p.slopes.empty()) {
      score -= double{p.slopes[head]} * static_cast<double>(end - 1 - position);
      error += std::abs(score) * kHalfUlp;
    }
    scores.push_back(score);
    score_error = std::max(score_error, error);
  }
  const double sink = p.sinks.empty() ? -HUGE_VAL : double{p.sinks[head]};
  const double top = std::max(sink, *std::max_element(scores.begin(), scores.end()));
  const double range = top - *std::min_element(scores.begin(), scores.end());
  const auto n = static_cast<double>(scores.size());
  // A weight is off by its score's error, the rounding of score - max and that of exp; it is scaled by an exp whenever
  // a later tile or span has a larger score, 8 times in a span at most, and each time score - max is rounded again. A
  // sum has a rounding for each position of its span, and three for each tile and span. Numerator and denominator carry
  // it.
  const double n_spans = n / (kAttentionTile * kAttentionSpanTiles) + 1;
  const double n_scalings = kAttentionSpanTiles + 2 * n_spans;
  const double weight_error =
      score_error + (2 * range + std::abs(top)) * kHalfUlp + n_scalings * (kExpError + range * kHalfUlp);
  const double in_span = std::min<double>(n, kAttentionTile * kAttentionSpanTiles);
  const double sum_error = (in_span + 3 * n_scalings + 12) * kHalfUlp;
  Judged judged{std::vector<double>(static_cast<size_t>(p.v_dim)), std::vector<double>(static_cast<size_t>(p.v_dim))};
  double sum = std::exp(sink - top);
  for (const double score : scores) sum += std::exp(score - top);
  for (int d = 0; d < p.v_dim; ++d) {
    double size = 0.0;
    for (size_t i = 0; i < scores.size(); ++i) {
      const double weight = std::exp(scores[i] - top) / sum;
      const double v = in.v[(static_cast<size_t>(start) + i) * static_cast<size_t>(p.v_dim) + static_cast<size_t>(d)];
      judged.out[static_cast<size_t>(d)] += weight * v;
      size += weight * std::abs(v);
    }
    judged.bound[static_cast<size_t>(d)] = 2 * size * (weight_error + sum_error) + 1e-30;
  }
  if (p.value_type() == DType::kTurbo4) {  // each element of the rotated sum carries its error to all
    double sizes = 0.0;
    for (const double bound : judged.bound) sizes += bound;
    double largest = 0.0;
    for (int64_t i = start; i < end; ++i) largest = std::max(largest, norm(in.v.data() + i * p.v_dim, p.v_dim));
    for (double& bound : judged.bound) bound = sizes + kRotationError * largest;
  }
  return judged;
}

void expect_formula(const Problem& p, const Inputs& in, const std::vector<float>& out) {
  for (int row = 0; row < p.n_rows; ++row) {
    const int64_t position = p.first + row;
    const int64_t start = p.window > 0 ? std::max<int64_t>(0, position + 1 - p.window) : 0;
    for (int head = 0; head < p.n_heads; ++head) {
      const int query = row * p.n_heads + head;
      const Judged judged = judge(p, in, in.q.data() + query * p.k_dim, static_cast<size_t>(head), start, position + 1);
      for (int d = 0; d < p.v_dim; ++d) {
        ASSERT_NEAR(out[static_cast<size_t>(query * p.v_dim + d)], judged.out[static_cast<size_t>(d)],
                    judged.bound[static_cast<size_t>(d)])
            << "row " << row << ", head " << head << ", element " << d;
      }
    }
  }
}

void expect_attention(const Problem& p) {
  SCOPED_TRACE(p.name());
  const Inputs in = make_inputs(p);
  const auto tables = testing::supported_isas();
  const std::vector<float> first = attend(*tables.front(), p, in, 16);
  expect_formula(p, in, first);
  for (const KernelTable* table : tables) {
    SCOPED_TRACE(table->name);
    for (const int page_rows : {1, 4, 16, 64}) ASSERT_EQ(attend(*table, p, in, page_rows), first) << page_rows;
    ASSERT_EQ(attend(*table, p, in, 16, 1, 1), first) << "one row and head a call";
    ASSERT_EQ(attend(*table, p, in, 16, 2, 16), first) << "two rows a call";
    ASSERT_EQ(attend(*table, p, in, 16, 16, 3), first) << "three heads a call";
    ASSERT_EQ(attend(*table, p, in, 16, 16, 16, Spans::kApart), first) << "span by span";
  }
}

TEST(Attention, EveryHeadSizeAndType) {
  for (const int dim : {16, 20, 64, 80, 128}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      expect_attention({.k_dim = dim, .v_dim = dim, .first = 70, .dtype = dtype});
      if (HasFatalFailure()) return;
    }
  }
  expect_attention({.k_dim = 80, .v_dim = 48, .first = 70});
  expect_attention({.k_dim = 24, .v_dim = 128, .first = 70, .dtype = DType::kF16});
}

TEST(Attention, EveryElementTypeOfKvMemory) {
  for (const KvType& type : kKvTypes) {
    for (const int dim : {32, 64, 96, 128}) {
      expect_attention({.k_dim = dim, .v_dim = dim, .n_heads = 4, .first = 130, .dtype = type.dtype});
      if (HasFatalFailure()) return;
    }
    for (const KvType& other : kKvTypes) {
      expect_attention({.k_dim = 96, .v_dim = 64, .first = 70, .dtype = type.dtype, .v_dtype = other.dtype});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Attention, FirstPositionsAndTileEdges) {
  for (const int64_t first : {0, 1, 15, 60, 62, 63, 64, 127, 128}) {
    expect_attention({.k_dim = 16, .v_dim = 16, .n_heads = 3, .n_rows = 5, .first = first});
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, ManyRowsAndHeads) {
  expect_attention({.k_dim = 32, .v_dim = 32, .n_heads = 16, .n_rows = 2, .first = 40});
  expect_attention({.k_dim = 32, .v_dim = 32, .n_heads = 1, .n_rows = 16, .first = 56});
  expect_attention({.k_dim = 32, .v_dim = 32, .n_heads = 5, .n_rows = 70, .first = 0});
}

TEST(Attention, Windows) {
  for (const int window : {1, 2, 16, 63, 64, 65, 100}) {
    for (const int64_t first : {0, 61, 130}) {
      expect_attention({.k_dim = 16, .v_dim = 16, .n_rows = 9, .first = first, .window = window});
      if (HasFatalFailure()) return;
    }
  }
}

/// Several spans of 8 tiles, with and without a window that starts inside one.
TEST(Attention, LongContexts) {
  for (const int64_t first : {509, 1020, 1700}) {
    expect_attention({.k_dim = 32, .v_dim = 32, .n_rows = 6, .first = first});
    expect_attention({.k_dim = 32, .v_dim = 32, .n_rows = 6, .first = first, .window = 700, .dtype = DType::kF16});
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, SoftCaps) {
  for (const float softcap : {1.0f, 30.0f, 50.0f}) {
    expect_attention({.k_dim = 16, .v_dim = 16, .first = 90, .softcap = softcap, .size = 20.0f});
    if (HasFatalFailure()) return;
  }
}

/// Sinks far below the scores, among them and far above.
TEST(Attention, Sinks) {
  for (const int64_t first : {0, 90, 1100}) {
    expect_attention({.k_dim = 16, .v_dim = 16, .n_heads = 4, .first = first, .sinks = {-200.0f, 0.0f, 3.5f, 60.0f}});
    if (HasFatalFailure()) return;
  }
}

TEST(Attention, Slopes) {
  for (const int window : {0, 70}) {
    expect_attention(
        {.k_dim = 16, .v_dim = 16, .n_heads = 3, .first = 600, .window = window, .slopes = {0.5f, 0.0625f, 0.003f}});
    if (HasFatalFailure()) return;
  }
}

/// Scores hundreds apart: all weight on one position, and nothing overflows.
TEST(Attention, SharpScores) { expect_attention({.k_dim = 64, .v_dim = 64, .first = 300, .size = 300.0f}); }

/// What a row may not see can't reach it, whatever it holds: infinities of a later row, NaN before the window.
TEST(Attention, UnseenPositionsCannotReachARow) {
  for (const KernelTable* table : testing::supported_isas()) {
    const Problem p{.k_dim = 16, .v_dim = 16, .n_rows = 4, .first = 50, .window = 20};
    Inputs in = make_inputs(p);
    const std::vector<float> clean = attend(*table, p, in, 16);
    for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      std::fill_n(in.written_k.end() - 16, 16, poison);  // the last row's own
      std::fill_n(in.written_v.end() - 16, 16, poison);
      std::fill_n(in.written_k.begin() + 31 * 16, 16, poison);  // only the first row sees position 31
      std::fill_n(in.written_v.begin() + 31 * 16, 16, poison);
      const std::vector<float> out = attend(*table, p, in, 16);
      const auto row = [](const std::vector<float>& values, int i) {
        return std::vector<float>(values.begin() + i * 32, values.begin() + (i + 1) * 32);
      };
      EXPECT_EQ(row(out, 1), row(clean, 1)) << table->name;
      EXPECT_EQ(row(out, 2), row(clean, 2)) << table->name;
      EXPECT_TRUE(std::isnan(out[0])) << "a row that sees it shows it";
    }
  }
}

}  // namespace
}  // namespace ferrox
