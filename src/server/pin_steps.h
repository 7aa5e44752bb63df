// What do the endpoints of pinned prefixes do alike?
#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"
#include "server/api_error.h"
#include "server/json_text.h"

namespace ferrox {

/// {"id", "object", "tokens", "cached_tokens", "expires_in"}: seconds, null where it stays until it is removed.
Json pin_json(const PrefixPin& pin);

/// The number in an id as pin_json gives it.
std::optional<uint64_t> parse_pin_id(const std::string& text);

/// 501 without a prefix cache, 503 from an engine that stops.
ApiError no_prefix_cache();
ApiError pins_stopped();

}  // namespace ferrox
