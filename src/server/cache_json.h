// How is the prefix cache shown?
#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"
#include "server/json_text.h"
#include "text/tokenizer.h"

namespace ferrox {

/// {"enabled": false} without a report; `tiers` only where they are used. The text of a part of the tree is shown to
/// callers of its namespace alone.
Json cache_json(const std::optional<PrefixCacheReport>& report, const std::optional<PrefixTierStats>& tiers,
                const std::string& space, const Tokenizer& tokenizer);

}  // namespace ferrox
