// Gemma 2: norms before and after each block, soft caps on scores and logits, every second layer slides.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.activation = Activation::kGelu}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves, kNormsAround));
  spec.embedding_scale = std::sqrt(static_cast<float>(sizes.n_embd));
  TRY_ASSIGN(const double score_cap, loader.non_negative_float_or("attn_logit_softcapping", 50.0));
  TRY_ASSIGN(const double logit_cap, loader.non_negative_float_or("final_logit_softcapping", 30.0));
  spec.logit_softcap = static_cast<float>(logit_cap);
  TRY_ASSIGN(spec.ropes.emplace_back(), read_sliding_rope(loader, sizes, RopePairs::kHalves));
  TRY(apply_windows(loader, sizes, {.window = 4096, .period = 2}, spec));
  choose_ropes(0, 1, spec);
  // The 27B model scales its scores by the width that each head has of n_embd, the others by their heads' own.
  const int64_t scaled_width = sizes.n_layers == 46 ? sizes.n_embd / sizes.n_heads : sizes.k_dim;
  TRY_ASSIGN(const float scale, read_attention_scale(loader, scaled_width));
  for (DecoderLayer& layer : spec.layers) {
    layer.attention.softcap = static_cast<float>(score_cap);
    layer.attention.scale = scale;
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gemma2;
const ArchSpec arch_gemma2 = {.gguf_name = "gemma2", .load = load};

}  // namespace ferrox
