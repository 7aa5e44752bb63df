// How do the messages of a conversation become a prompt? Through the model's chat template.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace ferrox {

struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// Token ids up to where the assistant's answer begins, BOS included where the model wants one. What messages say
/// never becomes a control token. Errors: what the template raises.
Result<std::vector<int32_t>> chat_prompt(const Engine& engine, const std::vector<ChatMessage>& messages);

/// Token ids of a text as it is, BOS in front where the model wants one. Special tokens may be spelled.
std::vector<int32_t> raw_prompt(const Engine& engine, const std::string& text);

}  // namespace ferrox
