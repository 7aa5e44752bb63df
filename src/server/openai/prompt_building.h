// How do a parsed request and its prompts become requests for the engine?
#pragma once

#include <string>
#include <vector>

#include "server/openai/answer.h"
#include "server/openai/generation_params.h"
#include "text/tokenizer.h"

namespace ferrox {

/// Ids of the biases' targets: a text biases each of its tokens. An id outside the vocabulary is refused.
ApiResult<std::vector<std::pair<int32_t, float>>> resolve_bias(const std::vector<BiasEntry>& entries,
                                                               const Tokenizer& tokenizer);

/// `params.n` requests for each prompt; choice i of all samples with seed + i. The shape is left to the caller.
ApiResult<PreparedAnswer> prepare_answer(const GenerationParams& params, std::vector<std::vector<int32_t>> prompts,
                                         const Tokenizer& tokenizer);

/// The header that names fields without effect, or none. Names come from the client and are made harmless.
void add_ignored_header(const std::vector<std::string>& names, std::vector<HttpHeader>& headers);

/// Letters, digits and `_.-[]` stay, all else becomes '?', and a long list is cut.
std::string header_list(const std::vector<std::string>& names);

}  // namespace ferrox
