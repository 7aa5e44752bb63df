// How do errors become statuses, codes and bodies?
#include "server/api_error.h"

#include <fmt/format.h>

#include <utility>

#include "server/json_text.h"

namespace ferrox {
namespace {

ApiError make(int status, const char* type, std::string code, std::string message) {
  return {status, type, std::move(code), std::move(message)};
}

constexpr const char* kInvalidRequest = "invalid_request_error";
constexpr const char* kServerError = "server_error";

}  // namespace

ApiError invalid_request(std::string param, std::string message) {
  ApiError error = make(400, kInvalidRequest, kInvalidRequest, std::move(message));
  error.param = std::move(param);
  return error;
}

ApiError unsupported(std::string param, std::string message) {
  ApiError error = make(501, kInvalidRequest, "unsupported", std::move(message));
  error.param = std::move(param);
  return error;
}

ApiError unknown_route(const std::string& method, const std::string& path) {
  return make(404, kInvalidRequest, "not_found", fmt::format("no such route: {} {}", method, path));
}

ApiError unknown_method(const std::string& method, const std::string& path, const std::string& allowed) {
  return make(405, kInvalidRequest, "method_not_allowed",
              fmt::format("method of {}: expected {}, found {}", path, allowed, method));
}

ApiError unknown_model(const std::string& found, const std::string& expected) {
  ApiError error = make(404, kInvalidRequest, "model_not_found",
                        fmt::format("model: expected '{}', the one that is loaded, found '{}'", expected, found));
  error.param = "model";
  return error;
}

ApiError invalid_api_key() {
  return make(401, "authentication_error", "invalid_api_key",
              "api key: expected one of this server's in 'authorization: Bearer <key>'");
}

ApiError forbidden(std::string message) { return make(403, "permission_error", "forbidden", std::move(message)); }

ApiError rate_limited(std::string message, int64_t retry_after_s) {
  ApiError error = make(429, "rate_limit_error", "rate_limit_exceeded", std::move(message));
  error.retry_after_s = retry_after_s;
  return error;
}

ApiError unavailable(std::string code, std::string message, int retry_after_s) {
  ApiError error = make(503, kServerError, std::move(code), std::move(message));
  error.retry_after_s = retry_after_s;
  return error;
}

ApiError transport_refusal(int status, std::string message) {
  switch (status) {
    case 413:
      return make(status, kInvalidRequest, "request_too_large", std::move(message));
    case 431:
      return make(status, kInvalidRequest, "headers_too_large", std::move(message));
    case 503:
      return unavailable("queue_full", std::move(message), 1);
    default:
      return make(status, kInvalidRequest, kInvalidRequest, std::move(message));
  }
}

ApiError engine_error(const Error& error, const std::string& unavailable_code, int retry_after_s) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return invalid_request("", error.message);
    case ErrorCode::kNotFound:
      return make(404, kInvalidRequest, "not_found", error.message);
    case ErrorCode::kUnsupported:
      return unsupported("", error.message);
    case ErrorCode::kContextLength:
      return make(400, kInvalidRequest, "context_length_exceeded", error.message);
    case ErrorCode::kMemoryBudget:
      return make(400, kInvalidRequest, "device_memory_budget_exceeded", error.message);
    case ErrorCode::kUnavailable:
      return unavailable(unavailable_code, error.message, retry_after_s);
    case ErrorCode::kCancelled:
      return make(499, kInvalidRequest, "cancelled", error.message);
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
      break;
  }
  return make(500, kServerError, "internal_error", error.message);
}

std::string error_body(const ApiError& error) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json body;
  body["error"] = {
      {"message", error.message}, {"type", error.type}, {"param", or_null(error.param)}, {"code", or_null(error.code)}};
  return dump_json(body);
}

HttpResponse error_response(const ApiError& error) {
  HttpResponse response;
  response.status = error.status;
  response.body = error_body(error);
  response.error_code = error.code;
  if (error.retry_after_s) response.headers.push_back({"retry-after", std::to_string(*error.retry_after_s)});
  if (error.status == 401) response.headers.push_back({"www-authenticate", "Bearer"});
  return response;
}

}  // namespace ferrox
