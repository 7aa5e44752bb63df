// Which memory does a forward pass need beside its weights and pages?
#pragma once

#include "base/aligned_buffer.h"
#include "nn/decoder.h"
#include "nn/linear.h"

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
  AlignedBuffer<float> shared;             ///< [rows][n_embd] and [rows][1] behind it; empty without a shared expert
  AlignedBuffer<ActBlock> blocks;          ///< int8 forms of the widest input
  AlignedBuffer<float> product_scratch;    ///< [threads]
  AlignedBuffer<float> attention_scratch;  ///< [threads]
  int64_t product_scratch_stride = 0;
  int64_t attention_scratch_stride = 0;

  uint64_t size_bytes() const {
    uint64_t total = blocks.size_bytes();
    for (const auto* buffer : {&normed, &q, &k, &v, &attended, &gate, &up, &expert_out, &router, &shared,
                               &product_scratch, &attention_scratch}) {
      total += buffer->size_bytes();
    }
    return total;
  }
};

/// Room for batches of `rows` rows through `spec`. The threads' scratch comes later, when their number is known.
Buffers allocate_buffers(const DecoderSpec& spec, int64_t rows);

}  // namespace ferrox
