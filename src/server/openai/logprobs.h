// How do log-probabilities look? OpenAI has one shape for chats and another for completions.
#pragma once

#include <vector>

#include "server/json_text.h"
#include "server/openai/logprob_ledger.h"

namespace ferrox {

/// {"content": [{"token", "logprob", "bytes", "top_logprobs"}], "refusal": null}
Json chat_logprobs(const std::vector<ScoredToken>& tokens, const Tokenizer& tokenizer);

/// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}; offsets count characters from the answer's
/// beginning plus `first_offset` (the echoed prompt).
Json completion_logprobs(const std::vector<ScoredToken>& tokens, const Tokenizer& tokenizer, size_t first_offset);

}  // namespace ferrox
