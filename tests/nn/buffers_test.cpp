// Is the memory that a pass is said to need the memory that it allocates?
#include "nn/buffers.h"

#include <gtest/gtest.h>

namespace ferrox {
namespace {

/// A spec of one layer with these widths; no weights are read.
DecoderSpec spec_of(int n_embd, int n_ff) {
  static const FormatKernels kernels{};
  DecoderSpec spec;
  spec.shape.n_embd = n_embd;
  DecoderLayer layer;
  layer.attention.q.n_out = layer.attention.out.n_in = n_embd;
  layer.attention.out.kernels = &kernels;
  layer.attention.k.n_out = layer.attention.v.n_out = n_embd / 2;
  layer.kv = {.n_kv_heads = 2, .k_dim = n_embd / 4, .v_dim = n_embd / 4};
  DenseMlp mlp;
  mlp.up.n_out = mlp.gate.n_out = n_ff;
  layer.mlp = std::move(mlp);
  spec.layers.push_back(std::move(layer));
  return spec;
}

TEST(Buffers, TheThreadsScratchIsCountedBeforeItIsThere) {
  Buffers buffers = allocate_buffers(spec_of(64, 96), 40);
  const uint64_t without = buffers.size_bytes(0);
  const uint64_t counted = buffers.size_bytes(3);
  EXPECT_EQ(buffers.product_scratch.size_bytes(), 0u);
  buffers.allocate_for_threads(3);
  EXPECT_GT(buffers.product_scratch.size_bytes(), 0u);
  EXPECT_GT(buffers.attention_parts.size_bytes(), 0u);
  EXPECT_EQ(counted, without + buffers.product_scratch.size_bytes() + buffers.attention_scratch.size_bytes() +
                         buffers.attention_parts.size_bytes());
}

TEST(Buffers, EveryThreadHasItsOwn) {
  Buffers buffers = allocate_buffers(spec_of(64, 96), 40);
  buffers.allocate_for_threads(2);
  EXPECT_GE(buffers.product_scratch_stride, product_scratch_floats(40));
  EXPECT_GE(buffers.attention_scratch_stride, attention_scratch_floats(16, 16));
  EXPECT_EQ(buffers.product_scratch.size(), 2 * buffers.product_scratch_stride);
  EXPECT_EQ(buffers.attention_scratch.size(), 2 * buffers.attention_scratch_stride);
}

TEST(Buffers, PartsOfAContextAreForThreadsThatShareAHead) {
  DecoderSpec spec = spec_of(64, 96);
  const Buffers few = allocate_buffers(spec, 1);
  EXPECT_EQ(few.part_floats(1), 0);
  EXPECT_GT(few.part_floats(2), 0);
  spec.layers[0].kv.n_kv_heads = kAttentionPiecesPerThread * 2;
  const Buffers many = allocate_buffers(spec, 1);
  EXPECT_EQ(many.part_floats(2), 0);
  EXPECT_GT(many.part_floats(3), 0);
}

}  // namespace
}  // namespace ferrox
