// How does a conversation become a prompt, whatever dialect it came in?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/http/message.h"
#include "server/request/generation_params.h"
#include "text/chat_template.h"

namespace ferrox {

inline constexpr size_t kMaxMessages = 10'000;

struct EncodedChat {
  std::vector<int32_t> tokens;
  std::vector<std::string> adjustments;  ///< what had to be changed in the messages first
};

/// Renders a conversation and encodes it so that only the template writes control tokens. What of it had no effect is
/// listed in `params.ignored`, or refused where the server is strict. 400: what the template refuses, in its words.
ApiResult<EncodedChat> encode_chat(const ChatInput& input, const Engine& engine, GenerationParams& params);

/// The headers that say what was ignored and what was adapted.
void add_chat_headers(const EncodedChat& chat, const GenerationParams& params, std::vector<HttpHeader>& headers);

}  // namespace ferrox
