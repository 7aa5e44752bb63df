// What does POST /v1/completions ask, and how does it become work for the engine?
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/engine.h"
#include "server/openai/generation_fields.h"
#include "server/openai/prepared_answer.h"

namespace ferrox {

struct CompletionRequest : GenerationParams {
  std::vector<std::variant<std::string, std::vector<int32_t>>> prompts;
  bool echo = false;
  bool parse_special = true;       ///< control tokens may be spelled in a prompt
  bool add_special_tokens = true;  ///< BOS in front of a prompt given as text
  int32_t best_of = 0;             ///< candidates of each prompt, of which n are told; 0: n
};

struct ParsedCompletion {
  CompletionRequest request;
};

/// Reads and checks a body. Any bytes may come; none crash.
ApiResult<ParsedCompletion> parse_completion(std::string_view body, UnknownFields unknown);

BodyDescription describe_completion();

/// Encodes the prompts and lays out the choices.
ApiResult<PreparedAnswer> prepare_completion(const ParsedCompletion& parsed, const Tokenizer& tokenizer);

}  // namespace ferrox
