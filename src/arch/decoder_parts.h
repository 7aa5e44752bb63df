// What do decoder families have in common? Readers of the keys and tensors that most of them share.
#pragma once

#include "arch/arch.h"
#include "arch/weight_loader.h"
#include "nn/decoder.h"

namespace ferrox {

/// Sizes that every decoder names.
struct DecoderSizes {
  int64_t n_layers = 0;
  int64_t n_embd = 0;
  int64_t n_vocab = 0;
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;
  int64_t k_dim = 0;
  int64_t v_dim = 0;
  int64_t n_rotated = 0;
  int64_t n_ff = 0;  ///< of a dense layer; 0 where the file has none
  int64_t n_experts = 0;
  int64_t n_experts_used = 0;
  int64_t n_ff_expert = 0;
  float rms_epsilon = 0.0f;
};

Result<DecoderSizes> read_sizes(WeightLoader& loader);

/// Shape, embedding, output norm and output (the embedding's own matrix where output.weight is missing).
Result<DecoderSpec> begin_decoder(WeightLoader& loader, const DecoderSizes& sizes);

/// Frequencies with the file's scaling (none, linear, yarn, or a rope_freqs tensor).
Result<Rope> read_rope(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs);

/// blk.<layer>.attn_{q,k,v,output}, and attn_{q,k}_norm where the file has them.
Result<Attention> read_attention(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer);

/// blk.<layer>.ffn_{gate,up,down}.
Result<DenseMlp> read_dense_mlp(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer);

/// blk.<layer>.ffn_gate_inp and ffn_{gate,up,down}_exps.
Result<MoeMlp> read_moe_mlp(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer);

/// Every layer: pre-norm, attention, and a dense or expert MLP, whichever the file has. Fills spec.layers and the
/// shape's list of KV layers.
Result<void> read_prenorm_layers(WeightLoader& loader, const DecoderSizes& sizes, DecoderSpec& spec);

}  // namespace ferrox
