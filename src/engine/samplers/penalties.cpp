// Repetition, frequency and presence penalties: what was said lately becomes less likely.
#include "engine/samplers/samplers.h"

namespace ferrox {

void apply_penalties(Candidates& candidates, const std::unordered_map<int32_t, int32_t>& counts,
                     const PenaltyParams& params) {
  if (params.repeat == 1.0f && params.frequency == 0.0f && params.presence == 0.0f) return;
  for (const auto& [id, count] : counts) {
    candidates.edit(id, [&, n = count](float logit) {
      const float scaled = logit <= 0.0f ? logit * params.repeat : logit / params.repeat;
      return scaled - static_cast<float>(n) * params.frequency - params.presence;
    });
  }
}

}  // namespace ferrox
