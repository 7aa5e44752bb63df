// What is a decoder-only transformer? A description that family files fill in, and the one forward pass that runs it.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "kernels/kernel_table.h"
#include "nn/model.h"
#include "nn/recurrence_spec.h"
#include "nn/rope.h"
#include "nn/weights.h"

namespace ferrox {

/// What a norm of q or k is taken over. A weight of one head's width serves each head alike.
enum class HeadNormSpan : uint8_t { kEachHead, kAllHeads };

struct Attention {
  Linear q;     ///< n_embd -> n_heads * (k_dim, and v_dim more where heads are gated)
  Linear k;     ///< n_embd -> n_kv_heads * k_dim
  Linear v;     ///< n_embd -> n_kv_heads * v_dim
  Linear out;   ///< n_heads * v_dim -> n_embd
  Norm q_norm;  ///< of [k_dim] or [n_heads * k_dim]; may be absent
  Norm k_norm;
  HeadNormSpan norm_span = HeadNormSpan::kEachHead;
  bool rotates_before_norm = false;  ///< otherwise q and k are normalised, then rotated
  int n_heads = 0;
  int rope = 0;                    ///< which of DecoderSpec::ropes; kNoRope: q and k are not rotated
  bool gates_heads = false;        ///< q gives each head's query and behind it its gate: results times sigmoid(gate)
  float scale = 0.0f;              ///< of q . k
  float softcap = 0.0f;            ///< of scores; 0: none
  float clamp = 0.0f;              ///< q, k and v are kept in [-clamp, clamp]; 0: as they are
  std::vector<float> sinks = {};   ///< [n_heads] or empty
  std::vector<float> slopes = {};  ///< [n_heads] of ALiBi, or empty

  explicit operator bool() const { return static_cast<bool>(out); }
};
inline constexpr int kNoRope = -1;

/// What stands between an MLP's up and down. With a gate it is applied to the gate and multiplied with up.
enum class Activation : uint8_t {
  kSilu,
  kGelu,         ///< by tanh
  kClampedSilu,  ///< gpt-oss's: always gated
};

struct DenseMlp {
  Linear gate;  ///< n_embd -> n_ff; absent in MLPs without gate
  Linear up;
  Linear down;  ///< n_ff -> n_embd
  Activation activation = Activation::kSilu;
  std::vector<float> hidden_divisors = {};  ///< [n_ff] that the activation's results are divided by, or empty

  explicit operator bool() const { return static_cast<bool>(up); }
};

/// How the router's outputs become probabilities.
enum class Gating : uint8_t { kSoftmax, kSigmoid };

/// Which experts a row goes to, and with which weights.
struct Routing {
  Gating gating = Gating::kSoftmax;
  int n_used = 0;                  ///< experts a row is sent to: the n_used most probable
  std::vector<float> choice_bias;  ///< [n_experts] added to probabilities for the choice alone, or empty
  int n_groups = 1;                ///< equal groups of experts; a group counts as the sum of its two best
  int n_groups_used = 1;           ///< groups that experts are chosen from
  bool normalised = true;          ///< the weights of a row's experts add up to 1 before `scale`
  float scale = 1.0f;
};

struct MoeMlp {
  Linear router;  ///< n_embd -> n_experts
  ExpertLinear gate;
  ExpertLinear up;
  ExpertLinear down;
  Routing routing;
  Activation activation = Activation::kSilu;
  DenseMlp shared;     ///< an expert that every row goes to; may be absent
  Linear shared_gate;  ///< n_embd -> 1: the shared expert's weight is its sigmoid; absent: 1
};

/// What the MLP reads.
enum class MlpInput : uint8_t {
  kAfterAttention,  ///< the layer's input with attention added
  kLayerInput,      ///< the layer's input: attention and MLP stand side by side
};

/// x += post_norm(attention(norm(x)) + recurrence(norm(x))); x += post_norm(mlp(norm(x))). What is absent is left out.
struct DecoderLayer {
  Norm attention_norm;
  Attention attention;  ///< may be absent
  KvLayerShape kv;      ///< of a layer with attention
  Recurrence recurrence;
  Norm attention_post_norm;
  Norm mlp_norm;
  std::variant<DenseMlp, MoeMlp> mlp;  ///< an absent DenseMlp: the layer has none
  Norm mlp_post_norm;
  MlpInput mlp_input = MlpInput::kAfterAttention;
};

struct DecoderSpec {
  ModelShape shape;  ///< without kv_layers and state_floats, which make_decoder takes from `layers`
  Embedding embedding;
  float embedding_scale = 1.0f;
  Embedding positions;      ///< learned, added to the embedding; absent: format is nullptr
  std::vector<Rope> ropes;  ///< attention names them by index
  std::vector<DecoderLayer> layers;
  float residual_scale = 1.0f;  ///< of what a block adds
  Norm output_norm;
  Linear output;               ///< n_embd -> n_vocab; the embedding itself where the file ties them
  float logit_softcap = 0.0f;  ///< 0: none
};

/// A model that runs `spec` in batches of up to max_batch_rows rows.
std::unique_ptr<Model> make_decoder(DecoderSpec spec, const KernelTable& kernels, int32_t max_batch_rows);

}  // namespace ferrox
