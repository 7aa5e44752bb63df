// How are activation rows sent through weight matrices? Several products in one parallel section.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/kernel_table.h"
#include "nn/weights.h"

namespace ferrox {

/// What one parallel section needs beside its data.
struct Compute {
  const KernelTable& kernels;
  ThreadPool& pool;
  float* product_scratch;          ///< [n_threads][product_scratch_floats(max rows)]
  int64_t product_scratch_stride;  ///< floats between threads
};

/// Activation rows in each form that a weight format may want; the int8 forms are made when first asked for.
class Activations {
 public:
  /// blocks: room for 2 * ceil(width / 256) * n_rows blocks.
  Activations(const float* x, int64_t n_rows, int64_t width, int64_t stride, ActBlock* blocks)
      : x_(x), n_rows_(n_rows), width_(width), stride_(stride), blocks_(blocks) {}

  static int64_t n_blocks(int64_t n_rows, int64_t width) { return 2 * n_rows * ((width + kKBlock - 1) / kKBlock); }

  const float* x() const { return x_; }
  int64_t n_rows() const { return n_rows_; }
  int64_t width() const { return width_; }
  int64_t stride() const { return stride_; }

  /// The int8 form, [ceil(width / 256)][n_rows]; nullptr for kFloat.
  const ActBlock* blocks(ActKind kind, const Compute& compute);

 private:
  const float* x_;
  int64_t n_rows_;
  int64_t width_;
  int64_t stride_;
  ActBlock* blocks_;
  bool made_[3] = {};
};

/// out[row * out_stride + n] = (linear x_row)[n].
struct LinearJob {
  const Linear* linear;
  Activations* input;
  float* out;
  int64_t out_stride;
};

/// Runs every job in one parallel section.
void run_linear(const Compute& compute, std::span<const LinearJob> jobs);

}  // namespace ferrox
