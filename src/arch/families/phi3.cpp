// Phi-3 and Phi-4: gate and up in one matrix, q, k and v too, and long contexts by a list of divisors.
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

/// LongRoPE (arXiv 2402.13753): one list of divisors for models used within their original context, one for longer.
Result<Rope> read_long_rope(WeightLoader& loader, const DecoderSizes& sizes, int64_t context_length) {
  if (!loader.has_tensor("rope_factors_short.weight")) return read_rope(loader, sizes, RopePairs::kHalves);
  TRY_ASSIGN(const std::vector<float> narrow, loader.divisors("rope_factors_short.weight", sizes.n_rotated / 2));
  TRY_ASSIGN(const std::vector<float> wide, loader.divisors("rope_factors_long.weight", sizes.n_rotated / 2));
  TRY_ASSIGN(const int64_t original, loader.size_or("rope.scaling.original_context_length", context_length));
  TRY_ASSIGN(const double magnitude, loader.positive_float_or("rope.scaling.attn_factor", 1.0));
  TRY_ASSIGN(const double base, read_rope_base(loader));
  Rope rope = plain_rope(sizes, RopePairs::kHalves, base);
  rope.frequencies = rope_frequencies(sizes.n_rotated, base, context_length > original ? wide : narrow);
  rope.magnitude = static_cast<float>(magnitude);
  return rope;
}

Result<std::unique_ptr<Model>> load(WeightLoader& loader, const ModelOptions& options) {
  TRY_ASSIGN(const DecoderSizes sizes, read_sizes(loader));
  TRY_ASSIGN(DecoderSpec spec, begin_decoder(loader, sizes));
  TRY(read_layers(loader, sizes, spec));
  TRY_ASSIGN(spec.ropes.emplace_back(), read_long_rope(loader, sizes, spec.shape.context_length));
  TRY(apply_windows(loader, sizes, {.period = 0}, spec));
  return make_decoder(std::move(spec), loader.kernels(), options.max_batch_rows);
}

}  // namespace

extern const ArchSpec arch_phi3;
const ArchSpec arch_phi3 = {.gguf_name = "phi3", .load = load};

}  // namespace ferrox
