// How are fields read that every dialect takes alike?
#pragma once

#include "server/request/generation_params.h"

namespace ferrox {

/// The namespace of cached prefixes that a request may name.
inline constexpr FieldRange kSaltBytes{0, 64};

/// Any number of 64 bits; -1: a random one.
ApiResult<void> read_seed(const Json& value, GenerationParams& params);
Json seed_schema();
/// Seconds, up to a day.
ApiResult<void> read_timeout(const Json& value, GenerationParams& params);
Json timeout_schema();

}  // namespace ferrox
