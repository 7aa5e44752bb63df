// What became of one request?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferrox {

enum class Outcome {
  kSkipped,    ///< never sent: the turn before got no answer, or the run was interrupted
  kOk,         ///< answered to the end
  kRefused,    ///< a status other than 200
  kFailed,     ///< no connection, no answer in time, or one that broke off or made no sense
  kCancelled,  ///< dropped by us, as planned or by an interrupt
};

inline constexpr const char* kOutcomeNames[] = {"skipped", "ok", "refused", "failed", "cancelled"};
inline const char* outcome_name(Outcome outcome) { return kOutcomeNames[static_cast<size_t>(outcome)]; }

/// Times are milliseconds since the run began.
struct RequestRecord {
  size_t conversation = 0;
  size_t turn = 0;
  Outcome outcome = Outcome::kSkipped;
  int status = 0;                  ///< of HTTP; 0: none came
  std::string error;               ///< of a refusal or failure: one printable line, the server's words cut short
  double due_ms = 0;               ///< when it should be sent: its arrival, or when a place came free
  double sent_ms = 0;              ///< when the work on it began; later than due where we are too slow
  double end_ms = 0;               ///< its last byte, or the failure
  std::vector<double> token_ms{};  ///< when each event with text came; with most servers that is a token
  std::optional<int64_t> prompt_tokens{};      ///< as the server counts
  std::optional<int64_t> completion_tokens{};  ///< as the server counts
  std::optional<int64_t> cached_tokens{};      ///< of the prompt

  /// The server's count, or that of events where it tells none.
  int64_t output_tokens() const { return completion_tokens.value_or(static_cast<int64_t>(token_ms.size())); }
};

}  // namespace ferrox
