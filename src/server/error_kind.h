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
  kSleepOvertaken,
  kStreamTakenOver,
  kEventsGone,
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
  kSleeping,
  kStreamsBusy,
  kStalled,
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

/// What may be refused before the path is known, and then in OpenAI's body.
inline constexpr ErrorSet kUnreadErrors{ErrorKind::kInvalidRequest, ErrorKind::kHeadersTooLarge,
                                        ErrorKind::kHttpVersion};
/// What any request may meet before its endpoint sees it, or when a handler fails.
inline constexpr ErrorSet kTransportErrors =
    kUnreadErrors | ErrorSet{ErrorKind::kTooLarge,  ErrorKind::kEncodedBody, ErrorKind::kUnknownExpectation,
                             ErrorKind::kQueueFull, ErrorKind::kForbidden,   ErrorKind::kInternal};
/// What a body with a prompt may meet.
inline constexpr ErrorSet kPromptErrors{ErrorKind::kContextLength, ErrorKind::kMemoryBudget, ErrorKind::kModelNotFound,
                                        ErrorKind::kUnsupported,   ErrorKind::kDraining,     ErrorKind::kSleeping};
/// The same, and what may happen to it while it waits and runs.
inline constexpr ErrorSet kAnswerErrors =
    kPromptErrors | ErrorSet{ErrorKind::kForbidden, ErrorKind::kKvExhausted, ErrorKind::kStreamsBusy};
/// Saved conversations, as any of their endpoints may meet them.
inline constexpr ErrorSet kSessionErrors{ErrorKind::kNotFound,    ErrorKind::kSessionDamaged, ErrorKind::kMemoryBudget,
                                         ErrorKind::kUnsupported, ErrorKind::kSessionsBusy,   ErrorKind::kContextLength,
                                         ErrorKind::kSleeping};

}  // namespace ferrox
