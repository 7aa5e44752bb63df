// Can the samplers work with what a request asks?
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/sampling_params.h"

namespace ferrox {

/// Refuses numbers that no sampler can work with (NaN, negative windows, a mirostat version that doesn't exist) and
/// token ids outside [0, n_vocab).
Result<void> validate_sampling(const SamplingParams& params, int32_t n_vocab);

}  // namespace ferrox
