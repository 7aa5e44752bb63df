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
  AlignedBuffer<float> attended;           ///< [rows][widest n_heads * v_dim, or inner width of a recurrence]
  AlignedBuffer<float> projected;          ///< [rows][widest of what goes into a recurrence]
  AlignedBuffer<float> convolved;          ///< [rows][most channels of a convolution]
  AlignedBuffer<float> steps;              ///< [most numbers of a recurrence's heads][rows]
  AlignedBuffer<float> beside_attention;   ///< [rows][n_embd]; empty where no layer has attention and a recurrence
  AlignedBuffer<float> gate;               ///< [rows * experts used][widest n_ff]
  AlignedBuffer<float> up;                 ///< [rows * experts used][widest n_ff]
  AlignedBuffer<float> expert_out;         ///< [rows * experts used][n_embd]; empty without experts
  AlignedBuffer<float> router;             ///< [rows][n_experts]
  AlignedBuffer<float> shared;             ///< [rows][n_embd] and [rows][1] behind it; empty without a shared expert
  AlignedBuffer<ActBlock> blocks;          ///< int8 forms of the widest input
  AlignedBuffer<float> product_scratch;    ///< [threads]
  AlignedBuffer<float> attention_scratch;  ///< [threads]
  AlignedBuffer<float> attention_parts;    ///< of queries whose context several threads share; see part_floats
  int64_t product_scratch_stride = 0;
  int64_t attention_scratch_stride = 0;
  int fewest_kv_heads = 0;  ///< of a layer

  /// Scratch that each thread has of its own.
  int64_t floats_a_thread() const { return product_scratch_stride + attention_scratch_stride; }
  /// What the parts of a long context may take: 4 MiB. One thread needs none, nor do layers with work for all threads.
  int64_t part_floats(int n_threads) const;
  void allocate_for_threads(int n_threads);

  /// Bytes of everything with n_threads threads, whether or not their scratch is there yet.
  uint64_t size_bytes(int n_threads) const;
};

/// Pieces of attention that a thread has to choose from, at least: with fewer, one that is slow keeps the others
/// waiting.
inline constexpr int kAttentionPiecesPerThread = 4;

/// Room for batches of `rows` rows through `spec`. The threads' scratch comes with the first pass, by their number.
Buffers allocate_buffers(const DecoderSpec& spec, int64_t rows);

}  // namespace ferrox
