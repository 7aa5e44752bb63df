// How is a model's score on a text shown? As lines for a reader, or as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/prediction_stats.h"

namespace ferrox {

struct PerplexityReport {
  int64_t n_chunks = 0;
  int64_t context = 0;
  int64_t n_tokens = 0;                       ///< scored
  Estimate nll;                               ///< mean negative log-likelihood of a token, in nats
  std::optional<DivergenceStats> divergence;  ///< from a reference
};

std::string report_text(const PerplexityReport& report);
std::string report_json(const PerplexityReport& report);

}  // namespace ferrox
