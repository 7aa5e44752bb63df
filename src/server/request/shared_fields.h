// How are fields read that every dialect takes alike?
#pragma once

#include "server/request/generation_params.h"

namespace ferrox {

/// Any number of 64 bits; -1: a random one.
ApiResult<void> read_seed(const Json& value, GenerationParams& params);
/// Seconds, up to a day.
ApiResult<void> read_timeout(const Json& value, GenerationParams& params);

}  // namespace ferrox
