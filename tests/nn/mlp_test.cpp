// Does an MLP, dense or of experts, equal the formula in double precision, and is each row its own?
#include "nn/mlp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "nn/compute_fixture.h"

namespace ferrox {
namespace {

using testing::ComputeFixture;
using testing::multiply;

constexpr int64_t kMlpEmbd = 24;
constexpr int64_t kMlpFf = 40;

/// Buffers for n_rows rows through n_used experts each.
Buffers make_buffers(int64_t n_rows, int64_t n_experts, int64_t n_used, int64_t n_embd, int64_t n_ff) {
  Buffers buffers;
  buffers.gate = AlignedBuffer<float>(n_rows * n_used * n_ff);
  buffers.up = AlignedBuffer<float>(n_rows * n_used * n_ff);
  buffers.expert_out = AlignedBuffer<float>(n_rows * n_used * n_embd);
  buffers.router = AlignedBuffer<float>(n_rows * n_experts);
  buffers.shared = AlignedBuffer<float>(n_rows * (n_embd + 1));
  buffers.blocks = AlignedBuffer<ActBlock>(Activations::n_blocks(n_rows * n_used, std::max(n_embd, n_ff)));
  return buffers;
}

template <class Run>
std::vector<float> run_rows(const ComputeFixture& fixture, Buffers& buffers, int64_t n_embd,
                            const std::vector<float>& x, const Run& run) {
  const Batch batch{};
  const auto n_rows = static_cast<int64_t>(x.size()) / n_embd;
  std::vector<float> out(x.size());
  run(Pass{fixture.compute(), batch, {}, buffers, n_rows, n_embd}, x.data(), out.data());
  return out;
}

std::vector<double> gated(const Linear& gate, const Linear& up, const Linear& down, const std::vector<double>& x) {
  std::vector<double> hidden = multiply(gate, x);
  const std::vector<double> ups = multiply(up, x);
  for (size_t i = 0; i < hidden.size(); ++i) hidden[i] *= ups[i] / (1.0 + std::exp(-hidden[i]));
  return multiply(down, hidden);
}

/// What a row of the gate and of up become.
double activated(Activation activation, double gate, double up) {
  switch (activation) {
    case Activation::kSilu:
      return gate / (1.0 + std::exp(-gate)) * up;
    case Activation::kGelu: {
      const double y = std::sqrt(2.0 / std::numbers::pi) * (gate + 0.044715 * gate * gate * gate);
      return gate / 2 * (1 + std::tanh(y)) * up;
    }
    case Activation::kClampedSilu: {
      const double g = std::min(gate, 7.0);
      return g / (1.0 + std::exp(-1.702 * g)) * (std::clamp(up, -7.0, 7.0) + 1.0);
    }
  }
  return 0.0;
}

std::vector<double> through_mlp(const DenseMlp& mlp, const std::vector<double>& x) {
  std::vector<double> hidden = multiply(mlp.gate ? mlp.gate : mlp.up, x);
  const std::vector<double> ups = mlp.gate ? multiply(mlp.up, x) : std::vector<double>(hidden.size(), 1.0);
  for (size_t i = 0; i < hidden.size(); ++i) {
    hidden[i] = activated(mlp.activation, hidden[i], ups[i]);
    if (!mlp.hidden_divisors.empty()) hidden[i] /= mlp.hidden_divisors[i];
  }
  return multiply(mlp.down, hidden);
}

std::vector<double> row_of(const std::vector<float>& x, int64_t row, int64_t width) {
  return {x.begin() + row * width, x.begin() + (row + 1) * width};
}

/// Sums of at most 64 products of numbers of about 1: float roundings stay far below it.
constexpr double kBound = 1e-5;

void expect_rows(const std::vector<float>& out, const std::vector<std::vector<double>>& want) {
  size_t i = 0;
  for (const std::vector<double>& row : want) {
    for (const double value : row) EXPECT_NEAR(out[i++], value, kBound) << "element " << i - 1;
  }
}

TEST(DenseMlp, EqualsTheFormula) {
  ComputeFixture fixture(2);
  DenseMlp mlp{fixture.linear(DType::kF32, kMlpEmbd, kMlpFf, 1), fixture.linear(DType::kF32, kMlpEmbd, kMlpFf, 2),
               fixture.linear(DType::kF32, kMlpFf, kMlpEmbd, 3)};
  mlp.gate.bias = testing::random_floats(kMlpFf, 0.5f, 4);
  mlp.up.bias = testing::random_floats(kMlpFf, 0.5f, 5);
  mlp.down.scale = 1.5f;
  const std::vector<float> x = testing::random_floats(3 * kMlpEmbd, 1.0f, 6);
  Buffers buffers = make_buffers(3, 0, 1, kMlpEmbd, kMlpFf);
  const auto out = run_rows(fixture, buffers, kMlpEmbd, x,
                            [&](const Pass& pass, const float* in, float* o) { run_mlp(pass, mlp, in, o); });
  std::vector<std::vector<double>> want;
  for (int64_t row = 0; row < 3; ++row) want.push_back(gated(mlp.gate, mlp.up, mlp.down, row_of(x, row, kMlpEmbd)));
  expect_rows(out, want);
}

TEST(DenseMlp, ActivationsEqualTheirFormulas) {
  for (const Activation activation : {Activation::kSilu, Activation::kGelu, Activation::kClampedSilu}) {
    for (const bool has_gate : {true, false}) {
      if (!has_gate && activation != Activation::kGelu) continue;
      ComputeFixture fixture(2);
      DenseMlp mlp;
      mlp.activation = activation;
      if (has_gate) mlp.gate = fixture.linear(DType::kF32, kMlpEmbd, kMlpFf, 1);
      mlp.up = fixture.linear(DType::kF32, kMlpEmbd, kMlpFf, 2);
      mlp.down = fixture.linear(DType::kF32, kMlpFf, kMlpEmbd, 3);
      if (!has_gate) mlp.hidden_divisors = std::vector<float>(kMlpFf, 1.25f);
      std::vector<float> x = testing::random_floats(3 * kMlpEmbd, 1.0f, 6);
      for (int64_t i = 0; i < kMlpEmbd; ++i) x[static_cast<size_t>(i)] *= 20.0f;  // past the clamps
      Buffers buffers = make_buffers(3, 0, 1, kMlpEmbd, kMlpFf);
      const auto out = run_rows(fixture, buffers, kMlpEmbd, x,
                                [&](const Pass& pass, const float* in, float* o) { run_mlp(pass, mlp, in, o); });
      for (int64_t row = 0; row < 3; ++row) {
        const auto want = through_mlp(mlp, row_of(x, row, kMlpEmbd));
        for (size_t i = 0; i < want.size(); ++i) {
          const float got = out[static_cast<size_t>(row * kMlpEmbd) + i];
          EXPECT_NEAR(got, want[i], 20 * kBound) << "activation " << static_cast<int>(activation) << ", row " << row;
        }
      }
    }
  }
}

/// Experts of one row, most probable first, ties to the lower one.
std::vector<size_t> ranked(const std::vector<double>& logits) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  return order;
}

std::vector<double> naive_moe(const MoeMlp& mlp, const std::vector<double>& x) {
  const std::vector<double> logits = multiply(mlp.router, x);
  const std::vector<size_t> order = ranked(logits);
  double total = 0.0;
  for (int rank = 0; rank < mlp.routing.n_used; ++rank) total += std::exp(logits[order[static_cast<size_t>(rank)]]);
  std::vector<double> sum(x.size(), 0.0);
  for (int rank = 0; rank < mlp.routing.n_used; ++rank) {
    const auto expert = static_cast<int64_t>(order[static_cast<size_t>(rank)]);
    const std::vector<double> out = gated(mlp.gate.expert(expert), mlp.up.expert(expert), mlp.down.expert(expert), x);
    const double weight = std::exp(logits[static_cast<size_t>(expert)]) / total;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += weight * out[i];
  }
  return sum;
}

MoeMlp make_moe(ComputeFixture& fixture, DType dtype, int64_t n_embd, int64_t n_ff, int64_t n_experts, int n_used) {
  MoeMlp mlp;
  mlp.router = fixture.linear(DType::kF32, n_embd, n_experts, 1);
  mlp.gate = fixture.experts(dtype, n_embd, n_ff, n_experts, 2);
  mlp.up = fixture.experts(dtype, n_embd, n_ff, n_experts, 3);
  mlp.down = fixture.experts(dtype, n_ff, n_embd, n_experts, 4);
  mlp.routing.n_used = n_used;
  return mlp;
}

std::vector<float> run_moe(const ComputeFixture& fixture, const MoeMlp& mlp, const std::vector<float>& x) {
  const int64_t n_embd = mlp.router.n_in;
  Buffers buffers = make_buffers(static_cast<int64_t>(x.size()) / n_embd, mlp.gate.n_experts, mlp.routing.n_used,
                                 n_embd, mlp.gate.first.n_out);
  return run_rows(fixture, buffers, n_embd, x,
                  [&](const Pass& pass, const float* in, float* out) { run_mlp(pass, mlp, in, out); });
}

TEST(MoeMlp, EqualsTheFormula) {
  for (const int n_used : {1, 2, 3, 7}) {
    ComputeFixture fixture(2);
    MoeMlp mlp = make_moe(fixture, DType::kF32, kMlpEmbd, kMlpFf, 7, n_used);
    mlp.up.scales = testing::random_floats(7, 1.0f, 8);
    const std::vector<float> x = testing::random_floats(20 * kMlpEmbd, 1.0f, 6);
    std::vector<std::vector<double>> want;
    for (int64_t row = 0; row < 20; ++row) want.push_back(naive_moe(mlp, row_of(x, row, kMlpEmbd)));
    expect_rows(run_moe(fixture, mlp, x), want);
  }
}

/// Routing spelled out: probabilities, choice with bias and groups, weights.
std::vector<double> naive_routed(const MoeMlp& mlp, const std::vector<double>& x) {
  const Routing& routing = mlp.routing;
  std::vector<double> p = multiply(mlp.router, x);
  double total = 0.0;
  for (const double logit : p) total += std::exp(logit);
  for (double& value : p) {
    value = routing.gating == Gating::kSigmoid ? 1.0 / (1.0 + std::exp(-value)) : std::exp(value) / total;
  }
  std::vector<double> choice = p;
  for (size_t i = 0; i < routing.choice_bias.size(); ++i) choice[i] += routing.choice_bias[i];
  if (routing.n_groups > 1) {
    const size_t size = choice.size() / static_cast<size_t>(routing.n_groups);
    std::vector<double> scores;
    for (size_t first = 0; first < choice.size(); first += size) {
      std::vector<double> group(choice.begin() + static_cast<ptrdiff_t>(first),
                                choice.begin() + static_cast<ptrdiff_t>(first + size));
      std::sort(group.rbegin(), group.rend());
      scores.push_back(group[0] + group[1]);
    }
    const std::vector<size_t> best = ranked(scores);
    for (size_t rank = static_cast<size_t>(routing.n_groups_used); rank < best.size(); ++rank) {
      std::fill_n(choice.begin() + static_cast<ptrdiff_t>(best[rank] * size), size, -1e30);
    }
  }
  std::vector<size_t> chosen = ranked(choice);
  chosen.resize(static_cast<size_t>(routing.n_used));
  double sum = 0.0;
  for (const size_t expert : chosen) sum += p[expert];
  std::vector<double> out(x.size(), 0.0);
  for (const size_t expert : chosen) {
    const auto e = static_cast<int64_t>(expert);
    DenseMlp one{mlp.gate.expert(e), mlp.up.expert(e), mlp.down.expert(e), mlp.activation};
    const auto answer = through_mlp(one, x);
    const double weight = p[expert] / (routing.normalised ? sum : 1.0) * routing.scale;
    for (size_t i = 0; i < out.size(); ++i) out[i] += weight * answer[i];
  }
  if (!mlp.shared) return out;
  const double gate = mlp.shared_gate ? 1.0 / (1.0 + std::exp(-multiply(mlp.shared_gate, x)[0])) : 1.0;
  const auto shared = through_mlp(mlp.shared, x);
  for (size_t i = 0; i < out.size(); ++i) out[i] += gate * shared[i];
  return out;
}

void expect_routed(const ComputeFixture& fixture, const MoeMlp& mlp) {
  const std::vector<float> x = testing::random_floats(20 * kMlpEmbd, 1.0f, 6);
  std::vector<std::vector<double>> want;
  for (int64_t row = 0; row < 20; ++row) want.push_back(naive_routed(mlp, row_of(x, row, kMlpEmbd)));
  expect_rows(run_moe(fixture, mlp, x), want);
}

TEST(MoeMlp, RoutingIsWhatItSays) {
  for (const Gating gating : {Gating::kSoftmax, Gating::kSigmoid}) {
    for (const bool normalised : {true, false}) {
      ComputeFixture fixture(2);
      MoeMlp mlp = make_moe(fixture, DType::kF32, kMlpEmbd, kMlpFf, 8, 3);
      mlp.routing.gating = gating;
      mlp.routing.normalised = normalised;
      mlp.routing.scale = 1.5f;
      expect_routed(fixture, mlp);
      mlp.routing.choice_bias = testing::random_floats(8, 1.0f, 9);
      expect_routed(fixture, mlp);
      mlp.routing.n_groups = 4;
      mlp.routing.n_groups_used = 2;
      expect_routed(fixture, mlp);
    }
  }
}

TEST(MoeMlp, ExpertsMayHaveBiasesAndCompany) {
  ComputeFixture fixture(2);
  MoeMlp mlp = make_moe(fixture, DType::kF32, kMlpEmbd, kMlpFf, 5, 2);
  mlp.activation = Activation::kClampedSilu;
  mlp.router.bias = testing::random_floats(5, 0.5f, 20);
  mlp.gate.biases = testing::random_floats(5 * kMlpFf, 0.5f, 21);
  mlp.up.biases = testing::random_floats(5 * kMlpFf, 0.5f, 22);
  mlp.down.biases = testing::random_floats(5 * kMlpEmbd, 0.5f, 23);
  expect_routed(fixture, mlp);
  mlp.shared = {fixture.linear(DType::kF32, kMlpEmbd, kMlpFf, 30), fixture.linear(DType::kF32, kMlpEmbd, kMlpFf, 31),
                fixture.linear(DType::kF32, kMlpFf, kMlpEmbd, 32), Activation::kSilu};
  expect_routed(fixture, mlp);
  mlp.shared_gate = fixture.linear(DType::kF32, kMlpEmbd, 1, 33);
  expect_routed(fixture, mlp);
}

/// All experts equally probable: the lowest are taken, at equal weights.
TEST(MoeMlp, TiesGoToTheLowerExpert) {
  ComputeFixture fixture(1);
  MoeMlp mlp = make_moe(fixture, DType::kF32, kMlpEmbd, kMlpFf, 5, 2);
  const std::vector<float> zeros(static_cast<size_t>(5 * kMlpEmbd), 0.0f);
  mlp.router.weights = reinterpret_cast<const std::byte*>(zeros.data());
  const std::vector<float> x = testing::random_floats(kMlpEmbd, 1.0f, 6);
  const auto row = row_of(x, 0, kMlpEmbd);
  std::vector<double> want(row.size(), 0.0);
  for (int64_t expert = 0; expert < 2; ++expert) {
    const auto out = gated(mlp.gate.expert(expert), mlp.up.expert(expert), mlp.down.expert(expert), row);
    for (size_t i = 0; i < want.size(); ++i) want[i] += out[i] / 2;
  }
  expect_rows(run_moe(fixture, mlp, x), {want});
}

/// Quantised experts: a row's bits don't depend on who else visits its experts, nor on threads.
TEST(MoeMlp, ARowIsItsOwn) {
  ComputeFixture fixture(1);
  const MoeMlp mlp = make_moe(fixture, DType::kQ4_K, 256, 256, 6, 2);
  const std::vector<float> x = testing::random_floats(30 * 256, 1.0f, 6);
  const std::vector<float> whole = run_moe(fixture, mlp, x);
  EXPECT_EQ(run_moe(ComputeFixture(3), mlp, x), whole);
  for (int64_t row = 0; row < 30; ++row) {
    const std::vector<float> alone(x.begin() + row * 256, x.begin() + (row + 1) * 256);
    const std::vector<float> out = run_moe(fixture, mlp, alone);
    ASSERT_TRUE(std::equal(out.begin(), out.end(), whole.begin() + row * 256)) << "row " << row;
  }
}

/// NaN activations reach the router: some expert is still chosen, and the row shows them.
TEST(MoeMlp, NanRowsStayTheirOwn) {
  ComputeFixture fixture(1);
  const MoeMlp mlp = make_moe(fixture, DType::kF32, kMlpEmbd, kMlpFf, 5, 2);
  std::vector<float> x = testing::random_floats(3 * kMlpEmbd, 1.0f, 6);
  const std::vector<float> clean = run_moe(fixture, mlp, x);
  std::fill_n(x.begin() + kMlpEmbd, kMlpEmbd, std::nanf(""));
  const std::vector<float> out = run_moe(fixture, mlp, x);
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + kMlpEmbd, clean.begin()));
  EXPECT_TRUE(std::equal(out.begin() + 2 * kMlpEmbd, out.end(), clean.begin() + 2 * kMlpEmbd));
  EXPECT_TRUE(std::isnan(out[kMlpEmbd]));
}

}  // namespace
}  // namespace ferrox
