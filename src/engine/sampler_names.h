// What are the samplers called where a chain is given by name? llama.cpp's names.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "engine/sampling_params.h"

namespace ferrox {

struct SamplerName {
  std::string_view name;
  SamplerKind kind;
};

/// In the order of the default chain.
inline constexpr SamplerName kSamplerNames[] = {
    {"penalties", SamplerKind::kPenalties},
    {"dry", SamplerKind::kDry},
    {"top_n_sigma", SamplerKind::kTopNSigma},
    {"top_k", SamplerKind::kTopK},
    {"typ_p", SamplerKind::kTypical},
    {"top_p", SamplerKind::kTopP},
    {"min_p", SamplerKind::kMinP},
    {"xtc", SamplerKind::kXtc},
    {"temperature", SamplerKind::kTemperature},
};

/// Nothing for a name that no sampler has. `typical_p`, as requests call its field, is typ_p.
inline std::optional<SamplerKind> find_sampler(std::string_view name) {
  if (name == "typical_p") return SamplerKind::kTypical;
  const auto* found = std::find_if(std::begin(kSamplerNames), std::end(kSamplerNames),
                                   [name](const SamplerName& row) { return row.name == name; });
  if (found == std::end(kSamplerNames)) return std::nullopt;
  return found->kind;
}

}  // namespace ferrox
