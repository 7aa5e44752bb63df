// What does one event of a streamed completion say?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ferrox {

struct StreamEvent {
  std::string content;    ///< text of the answer
  std::string reasoning;  ///< text that the model thinks before it
  std::string finish_reason;
  std::string error;  ///< the message of an error inside a stream
  std::optional<int64_t> prompt_tokens;
  std::optional<int64_t> completion_tokens;
  std::optional<int64_t> cached_tokens;

  bool has_text() const { return !content.empty() || !reasoning.empty(); }
};

/// Reads a chunk of /v1/chat/completions or /v1/completions; members that are absent or of another type are passed
/// over. kCorrupt: `data` is no JSON object.
Result<StreamEvent> read_stream_event(std::string_view data);

/// The message of an answer with an error status: `error.message`, `error`, `message` or `detail` of a JSON object, or
/// the body as it is.
std::string message_of_refusal(const std::string& body);

/// `text` on one line of printable ASCII, cut after some two hundred bytes: what a server says goes to a terminal.
std::string one_line(std::string_view text);

}  // namespace ferrox
