// How does a refusal look on the wire? A kind of the error table, and what is said about this one.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "server/error_kind.h"
#include "server/http/message.h"

namespace ferrox {

inline constexpr size_t kShownLetters = 64;  ///< in messages, of what the client wrote

/// A refusal as a client sees it: `{"error":{"message","type","param","code"}}`.
struct ApiError {
  ApiError() = default;
  // Not an aggregate: an ApiResult<int> must not take an int for the first member of an error.
  ApiError(ErrorKind kind, std::string error_message)
      : status(row_of(kind).status),
        type(row_of(kind).type),
        code(row_of(kind).code),
        message(std::move(error_message)) {}

  int status = 500;
  std::string type;
  std::string code;
  std::string message;
  std::string param;                     ///< the field at fault; empty: null
  std::optional<int64_t> retry_after_s;  ///< sent as Retry-After
};

template <class T>
using ApiResult = boost::system::result<T, ApiError>;

/// Reading the value of an error without asking first is a bug of ours.
[[noreturn]] inline void throw_exception_from_error(const ApiError& error, const boost::source_location& where) {
  check_failed(where.file_name(), static_cast<int>(where.line()), "result has a value", error.message.c_str());
}

/// 400 `invalid_request_error`: malformed JSON, or a field with a wrong value.
ApiError invalid_request(std::string param, std::string message);
/// 501 `unsupported`: well-formed, and not something this server does.
ApiError unsupported(std::string param, std::string message);
/// 404 `not_found`, 405 `method_not_allowed`.
ApiError unknown_route(const std::string& method, const std::string& path);
ApiError unknown_method(const std::string& method, const std::string& path, const std::string& allowed);
/// 404 `model_not_found`.
ApiError unknown_model(const std::string& found, const std::string& expected);
/// 401 `invalid_api_key`.
ApiError invalid_api_key();
/// 403 `forbidden`.
ApiError forbidden(std::string message);
/// 499 `client_closed_request`: for a client that closed only its sending side and still reads.
ApiError client_closed();
/// 429 `rate_limit_exceeded` with Retry-After: more than the caller's quota has left.
ApiError rate_limited(std::string message, int64_t retry_after_s);
/// 503 with Retry-After: kQueueFull, kKvExhausted, kDraining or kSessionsBusy.
ApiError unavailable(ErrorKind kind, std::string message, int retry_after_s);
/// A refusal of the transport by its status (400, 413, 415, 417, 431, 503, 505).
ApiError transport_refusal(int status, std::string message);
/// What the engine refused. A kUnavailable is of the kind `when_unavailable`.
ApiError engine_error(const Error& error, ErrorKind when_unavailable, int retry_after_s);

/// The body of an answer or of an event.
std::string error_body(const ApiError& error);
HttpResponse error_response(const ApiError& error);

}  // namespace ferrox
