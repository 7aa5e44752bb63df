// Gemma 3: like Gemma 2 with norms of q and k instead of caps; five layers of six slide, with a rope of their own.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.activation = Activation::kGelu}));
  TRY_ASSIGN(DecoderSpec spec, read_decoder(loader, sizes, RopePairs::kHalves, kNormsAround));
  spec.embedding_scale = std::sqrt(static_cast<float>(sizes.n_embd));
  TRY_ASSIGN(const double logit_cap, loader.non_negative_float_or("final_logit_softcapping", 0.0));
  spec.logit_softcap = static_cast<float>(logit_cap);
  TRY_ASSIGN(const double sliding_base, loader.positive_float_or("rope.freq_base_swa", 10000.0));
  spec.ropes.push_back(plain_rope(sizes, RopePairs::kHalves, sliding_base));
  TRY(apply_windows(loader, sizes, {.period = 6}, spec));
  choose_ropes(0, 1, spec);
  // As in Gemma 2, the 27B model alone scales its scores by each head's share of n_embd.
  const int64_t scaled_width = sizes.n_layers == 62 ? sizes.n_embd / sizes.n_heads : sizes.k_dim;
  TRY_ASSIGN(const float scale, read_attention_scale(loader, scaled_width));
  for (DecoderLayer& layer : spec.layers) layer.attention.scale = scale;
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_gemma3;
const ArchSpec arch_gemma3 = {.gguf_name = "gemma3", .load = load};

}  // namespace ferrox
