// What does a block need to know of the forward pass that it is part of?
#pragma once

#include <span>

#include "base/profile.h"
#include "nn/buffers.h"
#include "nn/linear.h"
#include "nn/model.h"
#include "nn/rope.h"
#include "nn/weights.h"

namespace ferrox {

struct Pass {
  const Compute& compute;
  const Batch& batch;
  std::span<const RopeAngles> angles;  ///< of each of the model's ropes
  Buffers& buffers;
  int64_t n_rows;
  int64_t n_embd;
};

inline bool is_given_up(const Pass& pass) { return pass.batch.is_given_up && pass.batch.is_given_up(); }

/// run_linear, with its cost under a name of its own.
inline void project(const Pass& pass, const char* name, std::span<const LinearJob> jobs) {
  const ProfileScope scope(pass.compute.pool.profile(), name);
  run_linear(pass.compute, jobs);
}

/// out = norm(x) of `width` elements that `offset` elements of the norm's weight come before. x and out may be the
/// same.
inline void norm_row(const KernelTable& kernels, const Norm& norm, int64_t offset, const float* x, int64_t width,
                     float* out) {
  const float* weight = norm.weight.data() + offset;
  if (norm.is_layer_norm) {
    const float* bias = norm.bias.empty() ? nullptr : norm.bias.data() + offset;
    kernels.layer_norm(x, weight, bias, norm.epsilon, width, out);
  } else {
    kernels.rms_norm(x, weight, norm.epsilon, width, out);
  }
}

/// out[row] = norm(x[row]) for n_rows rows of `width`. x and out may be the same.
inline void apply_norm(const Compute& compute, const Norm& norm, const float* x, int64_t n_rows, int64_t width,
                       float* out) {
  const ProfileScope scope(compute.pool.profile(), "norm");
  add_work(compute.pool.profile(), {.f32_operations = 4.0 * static_cast<double>(n_rows * width)});
  compute.pool.run(
      n_rows, [&](int64_t row, int) { norm_row(compute.kernels, norm, 0, x + row * width, width, out + row * width); });
}

/// inout[row] += factor * x[row].
inline void add_rows(const Compute& compute, const float* x, float factor, int64_t n_rows, int64_t width,
                     float* inout) {
  const ProfileScope scope(compute.pool.profile(), "add");
  add_work(compute.pool.profile(), {.f32_operations = 2.0 * static_cast<double>(n_rows * width)});
  compute.pool.run(n_rows, [&](int64_t row, int) {
    compute.kernels.add_scaled(x + row * width, factor, width, inout + row * width);
  });
}

}  // namespace ferrox
