// How does bad input travel? As a value: Result<T> is a T or an Error with a code and a message.
#pragma once

#include <fmt/format.h>
#include <boost/system/result.hpp>

#include <string>
#include <utility>

#include "base/check.h"

namespace ferrox {

/// What kind of thing went wrong; front ends map it to an exit code or an HTTP status.
enum class ErrorCode {
  kInvalidArgument,  ///< a value the caller gave: flag, field, template, token id
  kNotFound,         ///< a file, key, route or name that isn't there
  kIo,               ///< the operating system refused
  kCorrupt,          ///< a file whose bytes contradict themselves
  kUnsupported,      ///< well-formed, but not something this program does
  kContextLength,    ///< more positions than the context has
  kMemoryBudget,     ///< more bytes than the budget has
  kUnavailable,      ///< not now: queue full, draining
  kCancelled,        ///< the caller went away
};

/// Bad input or a refusal. `message` is lower case and says where, what was expected and what was found.
struct Error {
  ErrorCode code;
  std::string message;
};

/// Reading the value of an error without asking first is a bug of ours.
[[noreturn]] inline void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  check_failed(where.file_name(), static_cast<int>(where.line()), "result has a value", error.message.c_str());
}

template <class T>
using Result = boost::system::result<T, Error>;

/// make_error(code, format, args...): an Error with a formatted message.
template <class... Args>
Error make_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace ferrox

#define FERROX_CONCAT_(a, b) a##b
#define FERROX_CONCAT(a, b) FERROX_CONCAT_(a, b)
#define FERROX_TRY_ASSIGN_(temp, lhs, expression) \
  auto temp = (expression);                       \
  if (!temp) return temp.error();                 \
  lhs = std::move(*temp)

/// TRY_ASSIGN(auto x, f()): binds the value of a Result, or returns its error from the enclosing function.
#define TRY_ASSIGN(lhs, expression) FERROX_TRY_ASSIGN_(FERROX_CONCAT(try_result_, __LINE__), lhs, expression)

/// TRY(f()): returns the error of a Result<void> from the enclosing function, if it has one.
#define TRY(expression)                                                         \
  do {                                                                          \
    if (auto try_result = (expression); !try_result) return try_result.error(); \
  } while (false)
