// How do JSON variables become template values?
#pragma once

#include <nlohmann/json.hpp>

#include "text/jinja/budget.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// Every string, key or not, has the given origin. Fails on JSON nested deeper than a value may be.
Value from_json(Budget& budget, const nlohmann::ordered_json& json, Origin origin);

}  // namespace ferrox::jinja
