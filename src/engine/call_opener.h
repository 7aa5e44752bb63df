// Which token opens a tool call? What the family's template writes before a call, when that is one token.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/tokenizer.h"

namespace ferrox {

/// What a chat template (its Jinja source) writes before a call; empty when it names nothing that is known.
std::string_view call_opener_text(std::string_view template_source);

/// The id, or -1: a family without an opener, or one that is written with several tokens.
int32_t find_call_opener(std::string_view template_source, const Tokenizer& tokenizer);

}  // namespace ferrox
