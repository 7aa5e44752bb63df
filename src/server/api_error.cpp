// How do errors become statuses, codes and bodies?
#include "server/api_error.h"

#include <fmt/format.h>

#include <utility>

#include "server/json_text.h"

namespace ferrox {
namespace {

ErrorKind transport_kind(int status) {
  switch (status) {
    case 413:
      return ErrorKind::kTooLarge;
    case 415:
      return ErrorKind::kEncodedBody;
    case 417:
      return ErrorKind::kUnknownExpectation;
    case 431:
      return ErrorKind::kHeadersTooLarge;
    case 505:
      return ErrorKind::kHttpVersion;
    default:
      return ErrorKind::kInvalidRequest;
  }
}

}  // namespace

ApiError invalid_request(std::string param, std::string message) {
  ApiError error(ErrorKind::kInvalidRequest, std::move(message));
  error.param = std::move(param);
  return error;
}

ApiError unsupported(std::string param, std::string message) {
  ApiError error(ErrorKind::kUnsupported, std::move(message));
  error.param = std::move(param);
  return error;
}

ApiError unknown_route(const std::string& method, const std::string& path) {
  return {ErrorKind::kNotFound, fmt::format("no such route: {} {}", method, path)};
}

ApiError unknown_method(const std::string& method, const std::string& path, const std::string& allowed) {
  return {ErrorKind::kMethodNotAllowed, fmt::format("method of {}: expected {}, found {}", path, allowed, method)};
}

ApiError unknown_model(const std::string& found, const std::string& expected) {
  ApiError error(ErrorKind::kModelNotFound,
                 fmt::format("model: expected '{}', the one that is loaded, found '{}'", expected, found));
  error.param = "model";
  return error;
}

ApiError invalid_api_key() {
  return {ErrorKind::kInvalidApiKey, "api key: expected one of this server's in 'authorization: Bearer <key>'"};
}

ApiError forbidden(std::string message) { return {ErrorKind::kForbidden, std::move(message)}; }

ApiError client_closed() {
  return {ErrorKind::kClientClosed,
          "connection: expected to stay open while the answer is made, found closed by the client"};
}

ApiError rate_limited(std::string message, int64_t retry_after_s) {
  ApiError error(ErrorKind::kRateLimited, std::move(message));
  error.retry_after_s = retry_after_s;
  return error;
}

ApiError unavailable(ErrorKind kind, std::string message, int retry_after_s) {
  ApiError error(kind, std::move(message));
  error.retry_after_s = retry_after_s;
  return error;
}

ApiError transport_refusal(int status, std::string message) {
  if (status == 503) return unavailable(ErrorKind::kQueueFull, std::move(message), 1);
  return {transport_kind(status), std::move(message)};
}

ApiError engine_error(const Error& error, ErrorKind when_unavailable, int retry_after_s) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return invalid_request("", error.message);
    case ErrorCode::kNotFound:
      return {ErrorKind::kNotFound, error.message};
    case ErrorCode::kUnsupported:
      return unsupported("", error.message);
    case ErrorCode::kContextLength:
      return {ErrorKind::kContextLength, error.message};
    case ErrorCode::kMemoryBudget:
      return {ErrorKind::kMemoryBudget, error.message};
    case ErrorCode::kUnavailable:
      return unavailable(when_unavailable, error.message, retry_after_s);
    case ErrorCode::kCancelled:
      return {ErrorKind::kClientClosed, error.message};
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
      break;
  }
  return {ErrorKind::kInternal, error.message};
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
