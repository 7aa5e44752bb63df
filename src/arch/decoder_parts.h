// What do decoder families have in common? Readers of the keys and tensors that most of them share.
#pragma once

#include "arch/arch.h"
#include "arch/weight_loader.h"
#include "nn/decoder.h"

namespace ferrox {

/// Whether `.scale` tensors beside MLP matrices count: the reference has never applied them in most families.
enum class MlpScales : uint8_t { kIgnored, kApplied };

/// Which of a family's layers attend, and what it means that a layer has no KV heads.
enum class AttentionHabit : uint8_t {
  kEveryLayer,  ///< no KV heads named: as many as heads
  kSomeLayers,  ///< no KV heads: no attention
  kNoLayer,
};

/// What a family's files leave unsaid because all its models have it.
struct DecoderHabits {
  NormKind norm = NormKind::kRms;
  Activation activation = Activation::kSilu;
  MlpScales mlp_scales = MlpScales::kIgnored;
  AttentionHabit attention = AttentionHabit::kEveryLayer;
  bool gates_heads = false;  ///< attn_q gives queries and gates (Attention::gates_heads)
};

/// What a layer is made of: sizes that the file names, and the family's habits.
struct LayerSizes {
  int64_t n_embd = 0;
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;
  int64_t k_dim = 0;
  int64_t v_dim = 0;
  int64_t n_rotated = 0;
  int64_t n_ff = 0;  ///< of a dense layer; 0 where the file has none
  int64_t n_experts = 0;
  int64_t n_experts_used = 0;
  int64_t n_ff_expert = 0;
  int64_t n_ff_shared = 0;  ///< of the expert that every row goes to
  NormStyle norm;
  DecoderHabits habits;
};

/// The same of a whole decoder; heads are those of the first layer that attends, n_ff is the first layer's.
struct DecoderSizes : LayerSizes {
  int64_t n_layers = 0;
  int64_t n_vocab = 0;
  std::vector<int64_t> heads_of_layer;
  std::vector<int64_t> kv_heads_of_layer;
  std::vector<int64_t> ff_of_layer;

  /// One layer's.
  LayerSizes of_layer(int64_t layer) const;
};

Result<DecoderSizes> read_sizes(WeightLoader& loader, const DecoderHabits& habits = {});

/// Shape, embedding, output norm and output (the embedding's own matrix where output.weight is missing).
Result<DecoderSpec> begin_decoder(WeightLoader& loader, const DecoderSizes& sizes,
                                  const std::string& output_norm = "output_norm");

/// Frequencies with the file's base and scaling (none, linear, yarn, or a rope_freqs tensor).
Result<Rope> read_rope(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs);
/// The same from another base.
Result<Rope> read_rope_of_base(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs, double base);
/// The same of models that also see images, whose pairs are shared out to sections of time, height, width and a fourth.
/// Text has one position in the first three and 0 in the fourth; where a file has such sections halves are rotated.
Result<Rope> read_rope_of_sections(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs_without_sections);
/// Frequencies from `base` alone.
Rope plain_rope(const DecoderSizes& sizes, RopePairs pairs, double base);
/// The same from the base of the layers with a window, which is the others' where the file names none.
Result<Rope> read_sliding_rope(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs);
Result<double> read_rope_base(WeightLoader& loader);

/// blk.<layer>.attn_{q,k,v} or attn_qkv, attn_output, and attn_{q,k}_norm where the file has them.
Result<Attention> read_attention(WeightLoader& loader, const LayerSizes& sizes, int64_t layer);

/// The file's scale of scores, or 1 / sqrt(width) where it names none.
Result<float> read_attention_scale(WeightLoader& loader, int64_t width);

/// Norms of q and k go over all heads at once. Errors: one that has the elements of a single head.
Result<void> norm_all_heads(const WeightLoader& loader, DecoderSpec& spec);

/// Gives each layer of `spec` whose attn_sinks the file has those.
Result<void> read_sinks(WeightLoader& loader, DecoderSpec& spec);

/// blk.<layer>.ffn_{gate,up,down}; without a gate's tensor, ffn_up holds both or there is none.
Result<DenseMlp> read_dense_mlp(WeightLoader& loader, const LayerSizes& sizes, int64_t layer);

/// blk.<layer>.ffn_gate_inp and ffn_{gate,up,down}_exps; exp_probs_b, ffn_{gate,up,down}_shexp and ffn_gate_inp_shexp
/// where the file has them.
Result<MoeMlp> read_moe_mlp(WeightLoader& loader, const LayerSizes& sizes, int64_t layer);

/// What the recurrent layers of a model have in common, by its ssm keys.
struct RecurrenceSizes {
  int64_t n_taps = 0;    ///< rows that a convolution sees
  int64_t n_inner = 0;   ///< channels of all heads
  int64_t n_states = 0;  ///< for each channel
  int64_t n_heads = 0;
  int64_t n_groups = 0;
};

/// Errors: heads that don't divide the channels, groups that don't divide the heads, convolutions of less than 2 rows.
Result<RecurrenceSizes> read_recurrence_sizes(WeightLoader& loader);

/// `<name>.weight` of [n_channels][n_taps], and `<name>.bias` of [n_channels] where the file has one.
Result<ShortConvolution> read_short_convolution(WeightLoader& loader, const std::string& name, int64_t n_taps,
                                                int64_t n_channels);

/// Must a selective scan's file have a norm of groups?
enum class GroupNorm : uint8_t { kRequired, kOptional };

/// blk.<layer>.ssm_{in,conv1d,dt,a,d,norm,out}: Mamba 2.
Result<SelectiveScan> read_selective_scan(WeightLoader& loader, const LayerSizes& sizes,
                                          const RecurrenceSizes& recurrence, GroupNorm norm, int64_t layer);

/// Tensors that hold a layer's norms, without blk.<layer>; nullptr: there is no such norm.
struct NormNames {
  const char* attention = "attn_norm";
  const char* attention_post = nullptr;
  const char* mlp = "ffn_norm";
  const char* mlp_post = nullptr;
};

/// Norms before and after attention and MLP.
inline constexpr NormNames kNormsAround = {.attention_post = "post_attention_norm", .mlp_post = "post_ffw_norm"};

/// The norms of a layer, and nothing else of it.
Result<DecoderLayer> begin_layer(WeightLoader& loader, const LayerSizes& sizes, int64_t layer, const NormNames& norms);

/// Gives a layer its attention.
Result<void> add_attention(WeightLoader& loader, const LayerSizes& sizes, int64_t index, DecoderLayer& layer);

/// Gives a layer its MLP, dense or of experts, whichever the file has.
Result<void> add_mlp(WeightLoader& loader, const LayerSizes& sizes, int64_t index, DecoderLayer& layer);

/// One layer: norms, attention, and an MLP.
Result<DecoderLayer> read_layer(WeightLoader& loader, const DecoderSizes& sizes, int64_t layer, const NormNames& norms);

/// Every layer, into spec.layers.
Result<void> read_layers(WeightLoader& loader, const DecoderSizes& sizes, DecoderSpec& spec,
                         const NormNames& norms = {});

/// What counts where the file says nothing of windows.
struct WindowHabits {
  int64_t window = 0;
  int64_t period = 1;  ///< the last layer of each `period` reads all positions
};

/// Begins a decoder, with the file's rope as its first and every layer read: what most families are.
Result<DecoderSpec> read_decoder(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs,
                                 const NormNames& norms = {});

/// Gives the layers of `spec` the windows that the file and `habits` name.
Result<void> apply_windows(WeightLoader& loader, const DecoderSizes& sizes, const WindowHabits& habits,
                           DecoderSpec& spec);

/// Ropes, by their index in spec.ropes or kNoRope, of the layers that read all positions and of those with a window.
void choose_ropes(int full, int sliding, DecoderSpec& spec);

/// The routing keys of families that name them in their files: gating function, groups, norm and scale of weights. What
/// the file leaves open is as in `habits`.
struct RoutingHabits {
  Gating gating = Gating::kSoftmax;
  bool normalised = false;
};
Result<void> read_routing(WeightLoader& loader, const RoutingHabits& habits, DecoderSpec& spec);

/// Scales of embeddings, scores, residuals and logits, as Granite files name them.
Result<void> apply_granite_scales(WeightLoader& loader, const DecoderSizes& sizes, DecoderSpec& spec);

/// Takes the layers that draft tokens ahead off the end of `sizes`: text generation does without them.
Result<void> leave_out_drafting_layers(WeightLoader& loader, DecoderSizes& sizes);

/// Projections of q, k and v without biases and scales, which the reference doesn't apply in some families.
void use_matrices_alone(Attention& attention);

template <class Change>
void for_each_moe(DecoderSpec& spec, const Change& change) {
  for (DecoderLayer& layer : spec.layers) {
    if (auto* moe = std::get_if<MoeMlp>(&layer.mlp)) change(*moe);
  }
}

/// Attention and MLP both read the layer's input, through one norm.
void share_input(DecoderLayer& layer);

}  // namespace ferrox
