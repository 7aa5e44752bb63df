// What does a test of nn's words need? A table, a pool, scratch, and matrices in any format.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "kernels/dispatch.h"
#include "nn/decoder.h"
#include "nn/pass.h"
#include "support/random_weights.h"
#include "tensor/format.h"

namespace ferrox::testing {

/// Owns weights of linears and the compute they run on.
class ComputeFixture {
 public:
  explicit ComputeFixture(int n_threads, int64_t max_rows = 64)
      : pool_(n_threads),
        scratch_(n_threads * product_scratch_floats(max_rows)),
        compute_{**active_kernels(), pool_, scratch_.data(), product_scratch_floats(max_rows)} {}

  const Compute& compute() const { return compute_; }

  /// n_out x n_in random weights of magnitude about 1 / sqrt(n_in), without scale and bias.
  Linear linear(DType dtype, int64_t n_in, int64_t n_out, uint32_t seed) {
    const FormatInfo& format = *find_format(dtype);
    const float top = 2.0f / std::sqrt(static_cast<float>(n_in));
    memory_.push_back(random_blocks(format, n_in * n_out / format.block_elements, top, seed));
    Linear linear;
    linear.kernels = find_format_kernels(compute_.kernels, dtype);
    linear.weights = memory_.back().data();
    linear.n_in = n_in;
    linear.n_out = n_out;
    linear.row_bytes = n_in / format.block_elements * format.block_bytes;
    return linear;
  }

  ExpertLinear experts(DType dtype, int64_t n_in, int64_t n_out, int64_t n_experts, uint32_t seed) {
    ExpertLinear experts;
    experts.first = linear(dtype, n_in, n_out * n_experts, seed);
    experts.first.n_out = n_out;
    experts.n_experts = n_experts;
    return experts;
  }

 private:
  ThreadPool pool_;
  AlignedBuffer<float> scratch_;
  Compute compute_;
  std::deque<std::vector<std::byte>> memory_;
};

/// linear x in double precision, scale and bias included.
inline std::vector<double> multiply(const Linear& linear, const std::vector<double>& x) {
  std::vector<float> row(static_cast<size_t>(linear.n_in));
  std::vector<double> out;
  for (int64_t n = 0; n < linear.n_out; ++n) {
    find_format(linear.kernels->dtype)->decode(linear.weights + n * linear.row_bytes, row.data(), linear.n_in);
    double sum = 0.0;
    for (size_t k = 0; k < row.size(); ++k) sum += double{row[k]} * x[k];
    sum *= linear.scale;
    if (!linear.bias.empty()) sum += linear.bias[static_cast<size_t>(n)];
    out.push_back(sum);
  }
  return out;
}

}  // namespace ferrox::testing
