// What does a block need to know of the forward pass that it is part of?
#pragma once

#include <span>

#include "nn/linear.h"
#include "nn/model.h"
#include "nn/rope.h"
#include "nn/weights.h"

namespace ferrox {

/// Memory for the rows of one batch, held by the model and used by one block after another.
struct Buffers {
  AlignedBuffer<float> normed;             ///< [rows][n_embd]
  AlignedBuffer<float> q;                  ///< [rows][widest n_heads * k_dim]
  AlignedBuffer<float> k;                  ///< [rows][widest n_kv_heads * k_dim]
  AlignedBuffer<float> v;                  ///< [rows][widest n_kv_heads * v_dim]
  AlignedBuffer<float> attended;           ///< [rows][widest n_heads * v_dim]
  AlignedBuffer<float> gate;               ///< [rows * experts used][widest n_ff]
  AlignedBuffer<float> up;                 ///< [rows * experts used][widest n_ff]
  AlignedBuffer<float> expert_out;         ///< [rows * experts used][n_embd]; empty without experts
  AlignedBuffer<float> router;             ///< [rows][n_experts]
  AlignedBuffer<ActBlock> blocks;          ///< int8 forms of the widest input
  AlignedBuffer<float> product_scratch;    ///< [threads]
  AlignedBuffer<float> attention_scratch;  ///< [threads]
  int64_t product_scratch_stride = 0;
  int64_t attention_scratch_stride = 0;

  uint64_t size_bytes() const {
    uint64_t total = blocks.size_bytes();
    for (const auto* buffer :
         {&normed, &q, &k, &v, &attended, &gate, &up, &expert_out, &router, &product_scratch, &attention_scratch}) {
      total += buffer->size_bytes();
    }
    return total;
  }
};

struct Pass {
  const Compute& compute;
  const Batch& batch;
  const RopeAngles& angles;
  Buffers& buffers;
  int64_t n_rows;
  int64_t n_embd;
};

/// out[row] = norm(x[row]) for n_rows rows of `width`.
inline void apply_norm(const Compute& compute, const Norm& norm, const float* x, int64_t n_rows, int64_t width,
                       float* out) {
  compute.pool.run(n_rows, [&](int64_t row, int) {
    const float* in = x + row * width;
    if (norm.is_layer_norm) {
      compute.kernels.layer_norm(in, norm.weight.data(), norm.bias.empty() ? nullptr : norm.bias.data(), norm.epsilon,
                                 width, out + row * width);
    } else {
      compute.kernels.rms_norm(in, norm.weight.data(), norm.epsilon, width, out + row * width);
    }
  });
}

/// inout[row] += x[row].
inline void add_rows(const Compute& compute, const float* x, int64_t n_rows, int64_t width, float* inout) {
  compute.pool.run(n_rows, [&](int64_t row, int) { compute.kernels.add(x + row * width, width, inout + row * width); });
}

}  // namespace ferrox
