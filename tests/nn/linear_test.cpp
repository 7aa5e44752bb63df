// Do activation rows come through weight matrices right, whatever the number of rows, jobs and threads?
#include "nn/linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/compute_fixture.h"

namespace ferrox {
namespace {

using testing::ComputeFixture;

std::vector<float> run(const ComputeFixture& fixture, const Linear& linear, const std::vector<float>& x,
                       int64_t n_rows) {
  AlignedBuffer<ActBlock> blocks(Activations::n_blocks(n_rows, linear.n_in));
  Activations input(x.data(), n_rows, linear.n_in, linear.n_in, blocks.data());
  std::vector<float> out(static_cast<size_t>(n_rows * linear.n_out));
  const LinearJob job{&linear, &input, out.data(), linear.n_out};
  run_linear(fixture.compute(), {&job, 1});
  return out;
}

/// Float weights: each of the n_in + 2 roundings is relative to the sum of magnitudes.
void expect_product(const Linear& linear, const std::vector<float>& x, const std::vector<float>& out) {
  const std::vector<double> values(x.begin(), x.end());
  const std::vector<double> want = testing::multiply(linear, values);
  for (size_t n = 0; n < want.size(); ++n) {
    const double size = std::abs(linear.scale) * static_cast<double>(linear.n_in) * 4.0 + 1.0;
    EXPECT_NEAR(out[n], want[n], size * static_cast<double>(linear.n_in + 3) * 0x1p-24) << "output " << n;
  }
}

TEST(Linear, ScaleComesBeforeBias) {
  ComputeFixture fixture(2);
  Linear linear = fixture.linear(DType::kF32, 48, 100, 1);
  linear.scale = 3.0f;
  linear.bias = testing::random_floats(100, 5.0f, 2);
  const std::vector<float> x = testing::random_floats(48, 1.0f, 3);
  expect_product(linear, x, run(fixture, linear, x, 1));
}

TEST(Linear, RowsAndThreadsDontChangeBits) {
  constexpr int64_t kRows = 40;
  const std::vector<float> x = testing::random_floats(kRows * 512, 1.0f, 3);
  for (const DType dtype : {DType::kQ4_K, DType::kQ8_0, DType::kIQ4_NL, DType::kF16}) {
    ComputeFixture one_thread(1);
    const Linear linear = one_thread.linear(dtype, 512, 300, 1);
    const std::vector<float> whole = run(one_thread, linear, x, kRows);
    for (const int n_threads : {2, 3, 4}) EXPECT_EQ(run(ComputeFixture(n_threads), linear, x, kRows), whole);
    for (int64_t row = 0; row < kRows; ++row) {
      const std::vector<float> alone(x.begin() + row * 512, x.begin() + (row + 1) * 512);
      const std::vector<float> out = run(one_thread, linear, alone, 1);
      ASSERT_TRUE(std::equal(out.begin(), out.end(), whole.begin() + row * 300)) << "row " << row;
    }
  }
}

TEST(Linear, ManyRowsAreDividedAmongThreadsWithTheSameBits) {
  constexpr int64_t kRows = 397;
  const std::vector<float> x = testing::random_floats(kRows * 320, 1.0f, 3);
  const std::vector<float> bias = testing::random_floats(70, 5.0f, 2);
  for (const DType dtype : {DType::kQ5_0, DType::kF16}) {
    ComputeFixture one_thread(1, kRows);
    Linear linear = one_thread.linear(dtype, 320, 70, 1);
    linear.scale = 3.0f;
    linear.bias = bias;
    const std::vector<float> whole = run(one_thread, linear, x, kRows);
    for (const int n_threads : {2, 3}) EXPECT_EQ(run(ComputeFixture(n_threads, kRows), linear, x, kRows), whole);
    const std::vector<float> last(x.end() - 320, x.end());
    const std::vector<float> out = run(one_thread, linear, last, 1);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), whole.end() - 70));
  }
}

/// One input, three jobs of three formats: each sees the form of the activations that its format wants.
TEST(Linear, JobsOfOneSectionDontDisturbEachOther) {
  ComputeFixture fixture(3);
  const std::vector<float> x = testing::random_floats(5 * 256, 1.0f, 3);
  const Linear linears[] = {fixture.linear(DType::kQ6_K, 256, 70, 1), fixture.linear(DType::kQ4_0, 256, 33, 2),
                            fixture.linear(DType::kBF16, 256, 1, 3)};
  AlignedBuffer<ActBlock> blocks(Activations::n_blocks(5, 256));
  Activations input(x.data(), 5, 256, 256, blocks.data());
  std::vector<std::vector<float>> outs;
  std::vector<LinearJob> jobs;
  for (const Linear& linear : linears) outs.emplace_back(static_cast<size_t>(5 * linear.n_out));
  for (size_t i = 0; i < 3; ++i) jobs.push_back({&linears[i], &input, outs[i].data(), linears[i].n_out});
  run_linear(fixture.compute(), jobs);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(outs[i], run(fixture, linears[i], x, 5)) << "job " << i;
}

TEST(Linear, NoRowsAreNoWork) {
  ComputeFixture fixture(2);
  const Linear linear = fixture.linear(DType::kQ8_0, 64, 32, 1);
  EXPECT_TRUE(run(fixture, linear, {}, 0).empty());
}

}  // namespace
}  // namespace ferrox
