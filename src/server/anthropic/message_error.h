// How do refusals look in Anthropic's dialect?
#pragma once

#include <string>
#include <string_view>

#include "server/api_error.h"

namespace ferrox {

/// /v1/messages and what lies under it.
bool is_message_path(std::string_view path);

/// Which of the dialect's types a status has.
const char* message_error_type(int status);

/// {"type": "error", "error": {"type", "message"}, "request_id"}
std::string message_error_body(const ApiError& error, const std::string& request_id);

}  // namespace ferrox
