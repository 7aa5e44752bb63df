// Which seed has a request that names none, and what does that leave to chance?
#include "server/request/generation_params.h"

#include <algorithm>
#include <random>

namespace ferrox {

bool is_repeatable(const GenerationParams& params) {
  const SamplingParams& sampling = params.request.sampling;
  const bool is_cooled = std::ranges::find(sampling.order, SamplerKind::kTemperature) != sampling.order.end();
  const bool is_greedy = is_cooled && sampling.temperature <= 0 && sampling.dynatemp_range == 0 &&
                         sampling.mirostat == 0 && sampling.xtc_probability <= 0;
  return params.seed.has_value() || is_greedy;
}

uint64_t choose_seed(const GenerationParams& params) {
  static thread_local std::random_device source;
  return params.seed ? *params.seed : source();
}

}  // namespace ferrox
