// What does POST /v1/chat/completions ask, and how does it become work for the engine?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "server/openai/generation_fields.h"
#include "server/openai/prepared_answer.h"

namespace ferrox {

struct ChatRequest : GenerationParams {
  Json messages;                             ///< checked by check_messages()
  Json template_variables = Json::object();  ///< chat_template_kwargs and reasoning_effort, seen by the template
  bool logprobs = false;
  int32_t top_logprobs = 0;
};

struct ParsedChat {
  ChatRequest request;
};

/// Reads and checks a body. Any bytes may come; none crash.
ApiResult<ParsedChat> parse_chat(std::string_view body, UnknownFields unknown);

BodyDescription describe_chat();

/// Renders the conversation, encodes it so that only the template writes control tokens, and lays out the choices.
ApiResult<PreparedAnswer> prepare_chat(const ParsedChat& parsed, const Engine& engine);

}  // namespace ferrox
