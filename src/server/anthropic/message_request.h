// What does POST /v1/messages ask, and how does it become work for the engine?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "server/http/message.h"
#include "server/request/generation_params.h"

namespace ferrox {

struct MessageRequest : GenerationParams {
  Json system;    ///< a string or text parts; null: none
  Json messages;  ///< role and content (a string or text parts), as chat templates take them
};

/// Does the body ask for an answer, or for the length of its prompt?
enum class MessageUse { kAnswer, kPromptLength };

/// Reads and checks a body. Any bytes may come; none crash. Fields that only shape an answer are listed as without
/// effect where a prompt is counted.
ApiResult<MessageRequest> parse_message(std::string_view body, MessageUse use, UnknownFields unknown);

struct PreparedMessage {
  GenerationRequest request;
  std::vector<HttpHeader> headers;  ///< what was ignored or adapted
  bool stream = false;
  bool is_repeatable = false;  ///< the same request gives the same text
};

/// Renders the conversation through the chat template and encodes it.
ApiResult<PreparedMessage> prepare_message(MessageRequest message, const Engine& engine);

}  // namespace ferrox
