// Gemma 3: like Gemma 2 with norms of q and k instead of caps; five layers of six slide, with a rope of their own.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// The 27B model scales its scores by the width that each head has of n_embd, the others by their heads' own.
int64_t scaled_width(const DecoderSizes& sizes) {
  return sizes.n_layers == 62 ? sizes.n_embd / sizes.n_heads : sizes.k_dim;
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(DecoderSizes sizes, read_sizes(loader));
  sizes.activation = Activation::kGelu;
  sizes.mlp_scales = MlpScales::kIgnored;
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  spec.embedding_scale = std::sqrt(static_cast<float>(sizes.n_embd));
  TRY_ASSIGN(const double logit_cap, loader.float_or("final_logit_softcapping", 0.0));
  spec.logit_softcap = static_cast<float>(logit_cap);
  TRY_ASSIGN(spec.ropes.emplace_back(), read_rope(loader, sizes, RopePairs::kHalves));
  TRY_ASSIGN(const double sliding_base, loader.float_or("rope.freq_base_swa", 10000.0));
  spec.ropes.push_back(plain_rope(sizes, RopePairs::kHalves, sliding_base));
  TRY(read_layers(loader, sizes, spec, {.attention_post = "post_attention_norm", .mlp_post = "post_ffw_norm"}));
  TRY_ASSIGN(const std::vector<int> windows, read_windows(loader, sizes, {.period = 6}));
  set_windows(windows, spec);
  TRY_ASSIGN(const float scale, read_attention_scale(loader, scaled_width(sizes)));
  for (DecoderLayer& layer : spec.layers) {
    layer.attention.scale = scale;
    layer.attention.rope = layer.kv.window > 0 ? 1 : 0;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gemma3;
const ArchSpec arch_gemma3 = {.gguf_name = "gemma3", .load = load};

}  // namespace ferrox
