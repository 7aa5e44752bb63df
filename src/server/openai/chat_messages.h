// Which conversations can be rendered?
#pragma once

#include "server/api_error.h"
#include "server/json_text.h"

namespace ferrox {

/// Roles, content (text, text parts or none) and tool calls are of a shape that templates take. 400 names the place;
/// images, audio and files are refused with 501.
ApiResult<void> check_messages(const Json& messages);
Json messages_schema();

}  // namespace ferrox
