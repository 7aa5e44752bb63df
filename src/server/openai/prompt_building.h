// How do a parsed request and its prompts become requests for the engine?
#pragma once

#include <string>
#include <vector>

#include "server/openai/prepared_answer.h"
#include "server/request/generation_params.h"
#include "text/tokenizer.h"

namespace ferrox {

/// Ids of the biases' targets: a text biases each of its tokens. An id outside the vocabulary is refused.
ApiResult<std::vector<std::pair<int32_t, float>>> resolve_bias(const std::vector<BiasEntry>& entries,
                                                               const Tokenizer& tokenizer);

/// `params.n` requests for each prompt; choice i of all samples with seed + i. The shape is left to the caller.
ApiResult<PreparedAnswer> prepare_answer(const GenerationParams& params, std::vector<std::vector<int32_t>> prompts,
                                         const Tokenizer& tokenizer);

}  // namespace ferrox
