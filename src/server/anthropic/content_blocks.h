// How do Anthropic's messages become those that chat templates take?
#pragma once

#include "server/anthropic/message_request.h"

namespace ferrox {

/// A string or text blocks, into `message.system`. 501 names a block that isn't text.
ApiResult<void> read_system(const Json& value, MessageRequest& message);

/// Of a system prompt, and of a message's content.
Json content_schema();

/// Roles and contents, into `message.messages`. 400 names the place; images, tools and thinking are refused with 501,
/// and so is a conversation that ends with words of the assistant's.
ApiResult<void> read_message_list(const Json& value, MessageRequest& message);
Json message_list_schema();

}  // namespace ferrox
