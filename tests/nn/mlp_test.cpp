// Does an MLP, dense or of experts, equal the formula in double precision, and is each row its own?
#include "nn/mlp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/compute_fixture.h"

namespace ferrox {
namespace {

using testing::ComputeFixture;
using testing::multiply;

constexpr int64_t kEmbd = 24;
constexpr int64_t kFf = 40;

/// Buffers for n_rows rows through n_used experts each.
Buffers make_buffers(int64_t n_rows, int64_t n_experts, int64_t n_used, int64_t n_embd, int64_t n_ff) {
  Buffers buffers;
  buffers.gate = AlignedBuffer<float>(n_rows * n_used * n_ff);
  buffers.up = AlignedBuffer<float>(n_rows * n_used * n_ff);
  buffers.expert_out = AlignedBuffer<float>(n_rows * n_used * n_embd);
  buffers.router = AlignedBuffer<float>(n_rows * n_experts);
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
  DenseMlp mlp{fixture.linear(DType::kF32, kEmbd, kFf, 1), fixture.linear(DType::kF32, kEmbd, kFf, 2),
               fixture.linear(DType::kF32, kFf, kEmbd, 3)};
  mlp.gate.bias = testing::random_floats(kFf, 0.5f, 4);
  mlp.up.bias = testing::random_floats(kFf, 0.5f, 5);
  mlp.down.scale = 1.5f;
  const std::vector<float> x = testing::random_floats(3 * kEmbd, 1.0f, 6);
  Buffers buffers = make_buffers(3, 0, 1, kEmbd, kFf);
  const auto out = run_rows(fixture, buffers, kEmbd, x,
                            [&](const Pass& pass, const float* in, float* o) { run_mlp(pass, mlp, in, o); });
  std::vector<std::vector<double>> want;
  for (int64_t row = 0; row < 3; ++row) want.push_back(gated(mlp.gate, mlp.up, mlp.down, row_of(x, row, kEmbd)));
  expect_rows(out, want);
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
    MoeMlp mlp = make_moe(fixture, DType::kF32, kEmbd, kFf, 7, n_used);
    mlp.up.scales = testing::random_floats(7, 1.0f, 8);
    const std::vector<float> x = testing::random_floats(20 * kEmbd, 1.0f, 6);
    std::vector<std::vector<double>> want;
    for (int64_t row = 0; row < 20; ++row) want.push_back(naive_moe(mlp, row_of(x, row, kEmbd)));
    expect_rows(run_moe(fixture, mlp, x), want);
  }
}

/// All experts equally probable: the lowest are taken, at equal weights.
TEST(MoeMlp, TiesGoToTheLowerExpert) {
  ComputeFixture fixture(1);
  MoeMlp mlp = make_moe(fixture, DType::kF32, kEmbd, kFf, 5, 2);
  const std::vector<float> zeros(static_cast<size_t>(5 * kEmbd), 0.0f);
  mlp.router.weights = reinterpret_cast<const std::byte*>(zeros.data());
  const std::vector<float> x = testing::random_floats(kEmbd, 1.0f, 6);
  const auto row = row_of(x, 0, kEmbd);
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
  const MoeMlp mlp = make_moe(fixture, DType::kF32, kEmbd, kFf, 5, 2);
  std::vector<float> x = testing::random_floats(3 * kEmbd, 1.0f, 6);
  const std::vector<float> clean = run_moe(fixture, mlp, x);
  std::fill_n(x.begin() + kEmbd, kEmbd, std::nanf(""));
  const std::vector<float> out = run_moe(fixture, mlp, x);
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + kEmbd, clean.begin()));
  EXPECT_TRUE(std::equal(out.begin() + 2 * kEmbd, out.end(), clean.begin() + 2 * kEmbd));
  EXPECT_TRUE(std::isnan(out[kEmbd]));
}

}  // namespace
}  // namespace ferrox
