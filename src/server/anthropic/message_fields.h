// Which fields does Anthropic's dialect have? Two tables: those that make the prompt, and those that shape the answer.
#pragma once

#include <span>

#include "server/anthropic/message_request.h"
#include "server/schema/description.h"

namespace ferrox {

std::span<const Field<MessageRequest>> message_prompt_fields();
std::span<const Field<MessageRequest>> message_answer_fields();

BodyDescription describe_message(MessageUse use);

}  // namespace ferrox
