// What is a decoder-only transformer? A description that family files fill in, and the one forward pass that runs it.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "kernels/kernel_table.h"
#include "nn/model.h"
#include "nn/rope.h"
#include "nn/weights.h"

namespace ferrox {

struct Attention {
  Linear q;     ///< n_embd -> n_heads * k_dim
  Linear k;     ///< n_embd -> n_kv_heads * k_dim
  Linear v;     ///< n_embd -> n_kv_heads * v_dim
  Linear out;   ///< n_heads * v_dim -> n_embd
  Norm q_norm;  ///< of each head's [k_dim], before rotation; may be absent
  Norm k_norm;
  int n_heads = 0;
  float scale = 0.0f;    ///< of q . k
  float softcap = 0.0f;  ///< 0: none
};

struct DenseMlp {
  Linear gate;  ///< n_embd -> n_ff
  Linear up;
  Linear down;  ///< n_ff -> n_embd
};

struct MoeMlp {
  Linear router;  ///< n_embd -> n_experts
  ExpertLinear gate;
  ExpertLinear up;
  ExpertLinear down;
  int n_used = 0;  ///< experts a row is sent to: the n_used most probable
};

struct DecoderLayer {
  Norm attention_norm;
  Attention attention;
  KvLayerShape kv;
  Norm mlp_norm;
  std::variant<DenseMlp, MoeMlp> mlp;
};

struct DecoderSpec {
  ModelShape shape;
  Embedding embedding;
  Rope rope;
  std::vector<DecoderLayer> layers;
  Norm output_norm;
  Linear output;  ///< n_embd -> n_vocab; the embedding itself where the file ties them
};

/// A model that runs `spec` in batches of up to max_batch_rows rows.
std::unique_ptr<Model> make_decoder(DecoderSpec spec, const KernelTable& kernels, int32_t max_batch_rows);

}  // namespace ferrox
