// Which rotation do the metadata ask for?
#include "arch/decoder_parts.h"

namespace ferrox {
namespace {

Result<YarnScaling> read_yarn(WeightLoader& loader, double factor) {
  YarnScaling yarn;
  yarn.factor = factor;
  TRY_ASSIGN(yarn.original_context, loader.require_positive_float("rope.scaling.original_context_length"));
  TRY_ASSIGN(yarn.attn_factor, loader.positive_float_or("rope.scaling.attn_factor", 1.0));
  TRY_ASSIGN(const double yarn_attn_factor, loader.positive_float_or("rope.scaling.yarn_attn_factor", 1.0));
  yarn.attn_factor *= yarn_attn_factor;
  TRY_ASSIGN(yarn.beta_fast, loader.float_or("rope.scaling.yarn_beta_fast", 32.0));
  TRY_ASSIGN(yarn.beta_slow, loader.float_or("rope.scaling.yarn_beta_slow", 1.0));
  TRY_ASSIGN(const double ext_factor, loader.float_or("rope.scaling.yarn_ext_factor", -1.0));
  if (ext_factor >= 0.0) yarn.ext_factor = ext_factor;
  return yarn;
}

}  // namespace

Result<double> read_rope_base(WeightLoader& loader) { return loader.positive_float_or("rope.freq_base", 10000.0); }

Rope plain_rope(const DecoderSizes& sizes, RopePairs pairs, double base) {
  Rope rope;
  rope.pairs = pairs;
  rope.frequencies = rope_frequencies(sizes.n_rotated, base, {});
  return rope;
}

Result<Rope> read_rope(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs) {
  TRY_ASSIGN(const double base, read_rope_base(loader));
  return read_rope_of_base(loader, sizes, pairs, base);
}

Result<Rope> read_rope_of_base(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs, double base) {
  // A file with a factor and no word of how means the scaling that there was before the others: linear.
  TRY_ASSIGN(const std::string type, loader.string_or("rope.scaling.type", "linear"));
  TRY_ASSIGN(double factor, loader.float_or("rope.scaling.factor", 0.0));
  TRY_ASSIGN(const double linear, loader.float_or("rope.scale_linear", 0.0));
  if (factor == 0.0) factor = linear;
  if (!is_positive_float(base) || factor < 0.0) {
    return make_error(ErrorCode::kCorrupt, "{}: rope: expected a positive base and factor, found {} and {}",
                      loader.file().name(), base, factor);
  }
  if (type != "none" && type != "linear" && type != "yarn") {
    return make_error(ErrorCode::kUnsupported, "{}: {}.rope.scaling.type: expected none, linear or yarn, found '{}'",
                      loader.file().name(), loader.architecture(), type);
  }
  std::vector<float> divisors;
  if (loader.has_tensor("rope_freqs.weight")) {
    TRY_ASSIGN(divisors, loader.divisors("rope_freqs.weight", sizes.n_rotated / 2));
  }
  Rope rope;
  rope.pairs = pairs;
  rope.frequencies = rope_frequencies(sizes.n_rotated, base, divisors);
  if (factor == 0.0 || factor == 1.0 || type == "none") return rope;
  if (type == "linear") {
    for (double& frequency : rope.frequencies) frequency /= factor;
  } else {
    TRY_ASSIGN(const YarnScaling yarn, read_yarn(loader, factor));
    apply_yarn(yarn, base, rope);
  }
  return rope;
}

Result<Rope> read_rope_of_sections(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs_without_sections) {
  const std::string key = loader.architecture() + ".rope.dimension_sections";
  std::vector<uint64_t> sections;
  if (loader.file().metadata().contains(key)) {
    TRY_ASSIGN(sections, loader.file().metadata().get_uints(key));
  }
  sections.resize(4, 0);
  if (sections[0] == 0 || sections[1] == 0) return read_rope(loader, sizes, pairs_without_sections);
  TRY_ASSIGN(Rope rope, read_rope(loader, sizes, RopePairs::kHalves));
  for (const uint64_t section : sections) {
    if (section <= static_cast<uint64_t>(sizes.n_rotated)) continue;
    return make_error(ErrorCode::kCorrupt, "{}: {}: expected up to {} pairs in a section, found {}",
                      loader.file().name(), key, sizes.n_rotated, section);
  }
  const size_t with_position = sections[0] + sections[1] + sections[2];
  for (size_t pair = 0; pair < rope.frequencies.size(); ++pair) {
    if (pair % (with_position + sections[3]) >= with_position) rope.frequencies[pair] = 0.0;
  }
  return rope;
}

Result<Rope> read_sliding_rope(WeightLoader& loader, const DecoderSizes& sizes, RopePairs pairs) {
  TRY_ASSIGN(const double full, read_rope_base(loader));
  TRY_ASSIGN(const double base, loader.positive_float_or("rope.freq_base_swa", full));
  return read_rope_of_base(loader, sizes, pairs, base);
}

}  // namespace ferrox
