// MPT: ALiBi instead of rotations, layer norms, clamped q, k and v, an MLP without gate.
#include <cmath>

#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// 2^(-bias k / n) for k = 1 .. n of the largest power of two n up to n_heads, then every second one of a row twice as
/// fine (arXiv 2108.12409).
std::vector<float> alibi_slopes(int n_heads, double bias) {
  const int n = 1 << static_cast<int>(std::log2(n_heads));
  std::vector<float> slopes;
  for (int head = 0; head < n_heads; ++head) {
    const double exponent = head < n ? head + 1 : (2 * (head - n) + 1) / 2.0;
    slopes.push_back(static_cast<float>(std::exp2(-bias * exponent / n)));
  }
  return slopes;
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader, {.norm = NormKind::kLayer, .activation = Activation::kGelu}));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY(read_layers(loader, sizes, spec));
  if (loader.has_tensor("position_embd.weight")) {
    TRY_ASSIGN(spec.positions, loader.embedding("position_embd", sizes.n_embd, spec.shape.context_length));
  }
  TRY_ASSIGN(const double clamp, loader.non_negative_float_or("attention.clamp_kqv", 0.0));
  TRY_ASSIGN(const double bias, loader.non_negative_float_or("attention.max_alibi_bias", 0.0));
  TRY(norm_all_heads(loader, spec));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    Attention& attention = spec.layers[i].attention;
    attention.rope = kNoRope;
    attention.clamp = static_cast<float>(clamp);
    if (!attention.q_norm) attention.k_norm = {};  // the reference applies both or none
    if (bias > 0.0) attention.slopes = alibi_slopes(attention.n_heads, bias);
    const std::string divisors = fmt::format("blk.{}.ffn.act.scales", i);
    auto* mlp = std::get_if<DenseMlp>(&spec.layers[i].mlp);
    if (mlp != nullptr && loader.has_tensor(divisors)) {
      TRY_ASSIGN(mlp->hidden_divisors, loader.divisors(divisors, mlp->up.n_out));
    }
  }
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_mpt;
const ArchSpec arch_mpt = {.gguf_name = "mpt", .load = load};

}  // namespace ferrox
