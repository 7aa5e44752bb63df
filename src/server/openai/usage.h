// How is what a request cost told? OpenAI's usage, and timings beside it.
#pragma once

#include <span>

#include "engine/request.h"
#include "server/json_text.h"
#include "text/tokenizer.h"

namespace ferrox {

/// Of all choices; `n_per_prompt` neighbours share a prompt, which is counted once.
/// Where a prompt wasn't reused to its end, `tokenizer` gives the text of the token there.
Json usage_json(std::span<const Usage> choices, int32_t n_per_prompt, const Tokenizer& tokenizer);

/// Of one choice: durations and speeds. What was not measured is left out.
Json timings_json(const Usage& usage);

}  // namespace ferrox
