// Which of Anthropic's error types has a status?
#include "server/anthropic/message_error.h"

#include "server/json_text.h"

namespace ferrox {

const char* message_error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 500:
      return "api_error";
    case 503:
      return "overloaded_error";
    default:
      return "invalid_request_error";
  }
}

bool is_message_path(std::string_view path) {
  constexpr std::string_view kRoot = "/v1/messages";
  return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
}

std::string message_error_body(const ApiError& error, const std::string& request_id) {
  Json body = {{"type", "error"}};
  body["error"] = {{"type", message_error_type(error.status)}, {"message", error.message}};
  body["request_id"] = request_id;
  return dump_json(body);
}

}  // namespace ferrox
