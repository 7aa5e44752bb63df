// Do recurrent layers equal their formulas in double precision, and does a state hold all that they know of the rows
// before?
#include "nn/recurrence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nn/compute_fixture.h"

namespace ferrox {
namespace {

using testing::ComputeFixture;
using testing::multiply;
using Vector = std::vector<double>;

constexpr int64_t kEmbd = 24;
constexpr int64_t kOffset = 16;  ///< of the layer's state in that of the sequence

ShortConvolution random_convolution(int64_t n_channels, int64_t n_taps, bool has_bias) {
  ShortConvolution convolution;
  convolution.n_channels = n_channels;
  convolution.n_taps = n_taps;
  convolution.weights = testing::random_floats(n_taps * n_channels, 0.5f, 70);
  if (has_bias) convolution.bias = testing::random_floats(n_channels, 0.5f, 71);
  return convolution;
}

std::vector<float> random_rates(int64_t n) {
  std::vector<float> rates = testing::random_floats(n, 0.5f, 72);
  for (float& rate : rates) rate = -std::exp(rate);
  return rates;
}

GatedConvolution gated_convolution(ComputeFixture& fixture) {
  return {fixture.linear(DType::kF32, kEmbd, 3 * 40, 1), random_convolution(40, 3, false),
          fixture.linear(DType::kF32, 40, kEmbd, 2)};
}

/// 6 heads of 5 channels in 3 groups, 7 states each.
SelectiveScan selective_scan(ComputeFixture& fixture) {
  SelectiveScan scan;
  scan.n_heads = 6;
  scan.head_dim = 5;
  scan.n_groups = 3;
  scan.n_states = 7;
  const int64_t n_channels = 30 + 2 * 3 * 7;
  scan.in = fixture.linear(DType::kF32, kEmbd, 30 + n_channels + 6, 1);
  scan.convolution = random_convolution(n_channels, 4, true);
  scan.step_bias = testing::random_floats(6, 0.5f, 73);
  scan.rate = random_rates(6);
  scan.skip = testing::random_floats(6, 1.0f, 74);
  scan.norm.weight = testing::random_floats(30, 1.0f, 75);
  scan.norm.epsilon = 1e-5f;
  scan.out = fixture.linear(DType::kF32, 30, kEmbd, 2);
  return scan;
}

/// 6 value heads of 5 channels on 2 heads of 9 keys.
DeltaRule delta_rule(ComputeFixture& fixture) {
  DeltaRule rule;
  rule.n_k_heads = 2;
  rule.n_v_heads = 6;
  rule.k_dim = 9;
  rule.v_dim = 5;
  rule.length_epsilon = 1e-6f;
  rule.qkv = fixture.linear(DType::kF32, kEmbd, rule.qkv_width(), 1);
  rule.z = fixture.linear(DType::kF32, kEmbd, 30, 2);
  rule.beta_step = fixture.linear(DType::kF32, kEmbd, 12, 3);
  rule.convolution = random_convolution(rule.qkv_width(), 4, false);
  rule.step_bias = testing::random_floats(6, 0.5f, 73);
  rule.rate = random_rates(6);
  rule.norm.weight = testing::random_floats(5, 1.0f, 75);
  rule.norm.epsilon = 1e-5f;
  rule.out = fixture.linear(DType::kF32, 30, kEmbd, 4);
  return rule;
}

Buffers make_buffers(const Recurrence& recurrence, int64_t n_rows) {
  const RecurrenceWidths widths = widths_of(recurrence);
  Buffers buffers;
  buffers.projected = AlignedBuffer<float>(n_rows * widths.projected);
  buffers.convolved = AlignedBuffer<float>(n_rows * widths.convolved);
  buffers.steps = AlignedBuffer<float>(n_rows * widths.steps);
  buffers.attended = AlignedBuffer<float>(n_rows * widths.inner);
  buffers.blocks = AlignedBuffer<ActBlock>(Activations::n_blocks(n_rows, 256));
  return buffers;
}

/// A sequence: its rows [n][kEmbd] and how far they are.
struct Sequence {
  std::vector<float> x;
  std::vector<float> state;
  std::vector<float> out = {};

  int64_t n_rows() const { return static_cast<int64_t>(x.size()) / kEmbd; }
  int64_t n_done() const { return static_cast<int64_t>(out.size()) / kEmbd; }
};

template <class Layer>
Sequence new_sequence(const Layer& layer, int64_t n_rows, uint32_t seed) {
  const auto n_state = static_cast<size_t>(kOffset + state_floats(Recurrence{layer}) + 1);
  Sequence sequence{testing::random_floats(n_rows * kEmbd, 1.0f, seed), std::vector<float>(n_state)};
  sequence.state.front() = 5.0f;  // others' state
  sequence.state.back() = 6.0f;
  return sequence;
}

/// One pass of the next n rows of each sequence; 0: it isn't in the batch.
template <class Layer>
void step(const ComputeFixture& fixture, const Layer& layer, const std::vector<Sequence*>& sequences,
          const std::vector<int64_t>& n_rows) {
  std::vector<BatchSegment> segments;
  std::vector<float> x;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (n_rows[i] == 0) continue;
    Sequence& sequence = *sequences[i];
    segments.push_back({static_cast<int32_t>(n_rows[i]), sequence.n_done(), {}, sequence.state.data()});
    const auto first = sequence.x.begin() + sequence.n_done() * kEmbd;
    x.insert(x.end(), first, first + n_rows[i] * kEmbd);
  }
  const auto n_total = static_cast<int64_t>(x.size()) / kEmbd;
  Buffers buffers = make_buffers(layer, n_total);
  std::vector<float> out(x.size());
  const Batch batch{{}, segments, {}};
  run_recurrence(Pass{fixture.compute(), batch, {}, buffers, n_total, kEmbd}, layer, kOffset, x.data(), out.data());
  auto next = out.begin();
  for (size_t i = 0; i < sequences.size(); ++i) {
    sequences[i]->out.insert(sequences[i]->out.end(), next, next + n_rows[i] * kEmbd);
    next += n_rows[i] * kEmbd;
  }
}

double silu(double x) { return x / (1 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(x)); }

std::vector<Vector> project_rows(const Linear& linear, const std::vector<Vector>& rows) {
  std::vector<Vector> out;
  for (const Vector& row : rows) out.push_back(multiply(linear, row));
  return out;
}

std::vector<Vector> convolve_rows(const ShortConvolution& convolution, const std::vector<Vector>& rows) {
  const auto n_channels = static_cast<size_t>(convolution.n_channels);
  const auto n_before = static_cast<size_t>(convolution.n_taps - 1);
  std::vector<Vector> out;
  for (size_t row = 0; row < rows.size(); ++row) {
    Vector& sums = out.emplace_back(convolution.bias.begin(), convolution.bias.end());
    sums.resize(n_channels);
    for (size_t tap = 0; tap <= n_before; ++tap) {
      if (row + tap < n_before) continue;
      for (size_t c = 0; c < n_channels; ++c) {
        sums[c] += convolution.weights[tap * n_channels + c] * rows[row + tap - n_before][c];
      }
    }
  }
  return out;
}

Vector part(const Vector& row, int64_t first, int64_t n) { return {row.begin() + first, row.begin() + first + n}; }

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Vector rms_normed(const Norm& norm, int64_t first, const Vector& x) {
  const double scale = 1 / std::sqrt(dot(x, x) / static_cast<double>(x.size()) + double{norm.epsilon});
  Vector out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] * scale * norm.weight[static_cast<size_t>(first) + i]);
  return out;
}

std::vector<Vector> formula(const GatedConvolution& layer, const std::vector<Vector>& x) {
  const int64_t n = layer.convolution.n_channels;
  const std::vector<Vector> bcx = project_rows(layer.in, x);
  std::vector<Vector> gated;
  for (const Vector& row : bcx) {
    Vector& out = gated.emplace_back(part(row, 2 * n, n));
    for (size_t i = 0; i < out.size(); ++i) out[i] *= row[i];
  }
  std::vector<Vector> out = convolve_rows(layer.convolution, gated);
  for (size_t row = 0; row < out.size(); ++row) {
    for (size_t i = 0; i < out[row].size(); ++i) out[row][i] *= bcx[row][static_cast<size_t>(n) + i];
  }
  return project_rows(layer.out, out);
}

std::vector<Vector> silu_rows(std::vector<Vector> rows) {
  for (Vector& row : rows) std::transform(row.begin(), row.end(), row.begin(), silu);
  return rows;
}

std::vector<Vector> formula(const SelectiveScan& layer, const std::vector<Vector>& x) {
  const int64_t n_inner = layer.n_inner();
  const int64_t n_channels = layer.convolution.n_channels;
  const std::vector<Vector> projected = project_rows(layer.in, x);
  std::vector<Vector> xbc;
  for (const Vector& row : projected) xbc.push_back(part(row, n_inner, n_channels));
  xbc = silu_rows(convolve_rows(layer.convolution, xbc));
  std::vector<Vector> state(static_cast<size_t>(n_inner), Vector(static_cast<size_t>(layer.n_states)));
  std::vector<Vector> out;
  for (size_t row = 0; row < x.size(); ++row) {
    Vector scanned;
    for (int64_t channel = 0; channel < n_inner; ++channel) {
      const int64_t head = channel / layer.head_dim;
      const int64_t group = head / (layer.n_heads / layer.n_groups);
      const auto h = static_cast<size_t>(head);
      const double step =
          softplus(projected[row][static_cast<size_t>(n_inner + n_channels + head)] + layer.step_bias[h]);
      const Vector b = part(xbc[row], n_inner + group * layer.n_states, layer.n_states);
      const Vector c = part(xbc[row], n_inner + (layer.n_groups + group) * layer.n_states, layer.n_states);
      const double input = xbc[row][static_cast<size_t>(channel)];
      Vector& held = state[static_cast<size_t>(channel)];
      for (size_t i = 0; i < held.size(); ++i) held[i] = held[i] * std::exp(step * layer.rate[h]) + input * step * b[i];
      const double sum = dot(held, c) + input * layer.skip[h];
      scanned.push_back(sum * silu(projected[row][static_cast<size_t>(channel)]));
    }
    const int64_t width = n_inner / layer.n_groups;
    Vector& normed = out.emplace_back();
    for (int64_t first = 0; first < n_inner; first += width) {
      const Vector group = rms_normed(layer.norm, first, part(scanned, first, width));
      normed.insert(normed.end(), group.begin(), group.end());
    }
  }
  return project_rows(layer.out, out);
}

Vector of_length(double length, Vector x) {
  const double scale = length / std::sqrt(dot(x, x));
  for (double& value : x) value *= scale;
  return x;
}

std::vector<Vector> formula(const DeltaRule& layer, const std::vector<Vector>& x) {
  const std::vector<Vector> qkv = silu_rows(convolve_rows(layer.convolution, project_rows(layer.qkv, x)));
  const std::vector<Vector> z = project_rows(layer.z, x);
  const std::vector<Vector> beta_step = project_rows(layer.beta_step, x);
  const int64_t k_width = layer.n_k_heads * layer.k_dim;
  const int64_t n_shared = layer.n_v_heads / layer.n_k_heads;
  const auto n_channels = static_cast<size_t>(layer.n_v_heads * layer.v_dim);
  std::vector<Vector> state(n_channels, Vector(static_cast<size_t>(layer.k_dim)));
  std::vector<Vector> out;
  for (size_t row = 0; row < x.size(); ++row) {
    Vector& gated = out.emplace_back();
    for (int64_t head = 0; head < layer.n_v_heads; ++head) {
      const int64_t k_head = head / n_shared;
      const Vector q =
          of_length(1 / std::sqrt(static_cast<double>(layer.k_dim)), part(qkv[row], k_head * layer.k_dim, layer.k_dim));
      const Vector k = of_length(1, part(qkv[row], k_width + k_head * layer.k_dim, layer.k_dim));
      const auto beta_at = static_cast<size_t>(k_head * 2 * n_shared + head % n_shared);
      const double beta = 1 / (1 + std::exp(-beta_step[row][beta_at]));
      const double step = softplus(beta_step[row][beta_at + static_cast<size_t>(n_shared)] +
                                   layer.step_bias[static_cast<size_t>(head)]);
      const double decay = std::exp(step * layer.rate[static_cast<size_t>(head)]);
      Vector learned;
      for (int64_t i = 0; i < layer.v_dim; ++i) {
        const int64_t channel = head * layer.v_dim + i;
        Vector& held = state[static_cast<size_t>(channel)];
        for (double& value : held) value *= decay;
        const double change = beta * (qkv[row][static_cast<size_t>(2 * k_width + channel)] - dot(held, k));
        for (size_t j = 0; j < held.size(); ++j) held[j] += change * k[j];
        learned.push_back(dot(held, q));
      }
      learned = rms_normed(layer.norm, 0, learned);
      for (int64_t i = 0; i < layer.v_dim; ++i) {
        gated.push_back(learned[static_cast<size_t>(i)] * silu(z[row][static_cast<size_t>(head * layer.v_dim + i)]));
      }
    }
  }
  return project_rows(layer.out, out);
}

std::vector<Vector> rows_of(const std::vector<float>& x) {
  std::vector<Vector> rows;
  for (auto row = x.begin(); row != x.end(); row += kEmbd) rows.emplace_back(row, row + kEmbd);
  return rows;
}

template <class MakeLayer>
void expect_formula(const MakeLayer& make_layer) {
  ComputeFixture fixture(1);
  const auto layer = make_layer(fixture);
  Sequence sequence = new_sequence(layer, 12, 9);
  step(fixture, layer, {&sequence}, {12});
  const std::vector<Vector> want = formula(layer, rows_of(sequence.x));
  for (size_t row = 0; row < want.size(); ++row) {
    for (size_t i = 0; i < want[row].size(); ++i) {
      ASSERT_NEAR(sequence.out[row * kEmbd + i], want[row][i], 1e-5) << "row " << row << ", element " << i;
    }
  }
  EXPECT_EQ(sequence.state.front(), 5.0f);
  EXPECT_EQ(sequence.state.back(), 6.0f);
}

TEST(Recurrence, GatedConvolutionsEqualTheirFormula) { expect_formula(gated_convolution); }
TEST(Recurrence, SelectiveScansEqualTheirFormula) { expect_formula(selective_scan); }
TEST(Recurrence, DeltaRulesEqualTheirFormula) { expect_formula(delta_rule); }

/// Chunks, other sequences in the batch and threads change nothing; nor does going on from a copy of the state.
template <class MakeLayer>
void expect_state_is_all(const MakeLayer& make_layer) {
  ComputeFixture fixture(1);
  const auto layer = make_layer(fixture);
  Sequence whole = new_sequence(layer, 20, 9);
  step(fixture, layer, {&whole}, {20});
  for (const int n_threads : {1, 2, 3}) {
    ComputeFixture threads(n_threads);
    Sequence chunked = new_sequence(layer, 20, 9);
    Sequence other = new_sequence(layer, 20, 10);
    step(threads, layer, {&chunked, &other}, {1, 3});
    step(threads, layer, {&other, &chunked}, {2, 2});
    step(threads, layer, {&other, &chunked}, {0, 8});
    Sequence copy = chunked;
    step(threads, layer, {&copy, &other, &chunked}, {9, 1, 1});
    step(threads, layer, {&chunked}, {8});
    EXPECT_EQ(chunked.out, whole.out) << n_threads << " threads";
    EXPECT_EQ(copy.out, whole.out) << n_threads << " threads";
    EXPECT_EQ(chunked.state, whole.state) << n_threads << " threads";
    EXPECT_EQ(copy.state, whole.state) << n_threads << " threads";
  }
}

TEST(Recurrence, AStateIsAllThatAGatedConvolutionKnows) { expect_state_is_all(gated_convolution); }
TEST(Recurrence, AStateIsAllThatASelectiveScanKnows) { expect_state_is_all(selective_scan); }
TEST(Recurrence, AStateIsAllThatADeltaRuleKnows) { expect_state_is_all(delta_rule); }

TEST(Recurrence, VectorsOfNoLengthAreDividedByTheEpsilon) {
  ComputeFixture fixture(1);
  DeltaRule layer = delta_rule(fixture);
  Sequence sequence = new_sequence(layer, 3, 9);
  std::fill(sequence.x.begin(), sequence.x.end(), 0.0f);
  step(fixture, layer, {&sequence}, {3});
  EXPECT_EQ(sequence.out, std::vector<float>(sequence.out.size(), 0.0f));
}

}  // namespace
}  // namespace ferrox
