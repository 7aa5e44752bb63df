// Which refusals are there? One table: status, type and code as they go out, and what each means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace ferrox {

/// In the order of the table: by status.
enum class ErrorKind {
  kInvalidRequest,
  kContextLength,
  kMemoryBudget,
  kInvalidApiKey,
  kForbidden,
  kNotFound,
  kModelNotFound,
  kMethodNotAllowed,
  kSessionDamaged,
  kSlotBusy,
  kTooLarge,
  kEncodedBody,
  kUnknownExpectation,
  kRateLimited,
  kHeadersTooLarge,
  kClientClosed,
  kInternal,
  kUnsupported,
  kQueueFull,
  kKvExhausted,
  kDraining,
  kSessionsBusy,
  kHttpVersion,
};

struct ErrorRow {
  ErrorKind kind;
  int status;
  const char* type;  ///< OpenAI's; Anthropic's follows from the status
  const char* code;
  const char* meaning;  ///< for documentation
};

/// Every kind, each where its number is.
std::span<const ErrorRow> error_table();
const ErrorRow& row_of(ErrorKind kind);

/// Some kinds.
class ErrorSet {
 public:
  constexpr ErrorSet() = default;
  constexpr ErrorSet(std::initializer_list<ErrorKind> kinds) {
    for (const ErrorKind kind : kinds) bits_ |= bit(kind);
  }

  constexpr bool contains(ErrorKind kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr ErrorSet operator|(ErrorSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr uint32_t bit(ErrorKind kind) { return uint32_t{1} << static_cast<uint32_t>(kind); }

  uint32_t bits_ = 0;
};

/// What is refused before the path is looked at, and so in OpenAI's body whatever the path is: always, and at times.
inline constexpr ErrorSet kUnreadErrors{ErrorKind::kTooLarge, ErrorKind::kEncodedBody, ErrorKind::kUnknownExpectation,
                                        ErrorKind::kHeadersTooLarge, ErrorKind::kHttpVersion};
inline constexpr ErrorSet kSometimesUnreadErrors{ErrorKind::kInvalidRequest, ErrorKind::kQueueFull};
/// What any request may meet before its endpoint sees it, or when a handler fails.
inline constexpr ErrorSet kTransportErrors =
    kUnreadErrors | kSometimesUnreadErrors | ErrorSet{ErrorKind::kForbidden, ErrorKind::kInternal};
/// What a body with a prompt may meet.
inline constexpr ErrorSet kPromptErrors{ErrorKind::kContextLength, ErrorKind::kMemoryBudget, ErrorKind::kModelNotFound,
                                        ErrorKind::kUnsupported, ErrorKind::kDraining};
/// The same, and what may happen to it while it waits and runs.
inline constexpr ErrorSet kAnswerErrors =
    kPromptErrors | ErrorSet{ErrorKind::kForbidden, ErrorKind::kClientClosed, ErrorKind::kKvExhausted};
/// Saved conversations, as any of their endpoints may meet them.
inline constexpr ErrorSet kSessionErrors{ErrorKind::kNotFound,     ErrorKind::kSessionDamaged,
                                         ErrorKind::kMemoryBudget, ErrorKind::kUnsupported,
                                         ErrorKind::kSessionsBusy, ErrorKind::kContextLength};

}  // namespace ferrox
