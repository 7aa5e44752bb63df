// Gemma 2: norms before and after each block, soft caps on scores and logits, every second layer slides.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// The 27B model scales its scores by the width that each head has of n_embd, the others by their heads' own.
int64_t scaled_width(const DecoderSizes& sizes) {
  return sizes.n_layers == 46 ? sizes.n_embd / sizes.n_heads : sizes.k_dim;
}

Result<Rope> read_sliding_rope(WeightLoader& loader, const DecoderSizes& sizes) {
  TRY_ASSIGN(const double full, read_rope_base(loader));
  TRY_ASSIGN(const double base, loader.float_or("rope.freq_base_swa", full));
  return read_rope_of_base(loader, sizes, RopePairs::kHalves, base);
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.activation = Activation::kGelu;
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  spec.embedding_scale = std::sqrt(static_cast<float>(sizes.n_embd));
  TRY_ASSIGN(const double score_cap, loader.float_or("attn_logit_softcapping", 50.0));
  TRY_ASSIGN(const double logit_cap, loader.float_or("final_logit_softcapping", 30.0));
  spec.logit_softcap = static_cast<float>(logit_cap);
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_sliding_rope(loader, sizes));
  TRY(read_layers(loader, sizes, spec, {.attention_post = "post_attention_norm", .mlp_post = "post_ffw_norm"}));
  TRY_ASSIGN(const std::vector<int> windows, read_windows(loader, sizes, {.window = 4096, .period = 2}));
  set_windows(windows, spec);
  TRY_ASSIGN(const float scale, read_attention_scale(loader, scaled_width(sizes)));
  for (DecoderLayer& layer : spec.layers) {
    layer.attention.softcap = static_cast<float>(score_cap);
    layer.attention.scale = scale;
    layer.attention.rope = layer.kv.window > 0 ? 1 : 0;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gemma2;
const ArchSpec arch_gemma2 = {.gguf_name = "gemma2", .load = load};

}  // namespace ferrox
