#include "loadgen/stream_event.h"

#include <nlohmann/json.hpp>

namespace ferrox {
namespace {

using StreamJson = nlohmann::json;

constexpr size_t kMostLineBytes = 200;

/// The member `key`, or null where there is none.
const StreamJson& member(const StreamJson& object, const char* key) {
  static const StreamJson kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text_of_member(const StreamJson& object, const char* key) {
  const StreamJson& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<int64_t> count_of_member(const StreamJson& object, const char* key) {
  const StreamJson& value = member(object, key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t{1} << 53) return std::nullopt;
  return value.get<int64_t>();
}

std::string message_of_error(const StreamJson& error) {
  if (error.is_null()) return {};
  if (error.is_string()) return error.get<std::string>();
  const std::string message = text_of_member(error, "message");
  return message.empty() ? error.dump(-1, ' ', true, StreamJson::error_handler_t::replace) : message;
}

void read_choice(const StreamJson& choice, StreamEvent& event) {
  const StreamJson& delta = member(choice, "delta");
  event.content = text_of_member(choice, "text") + text_of_member(delta, "content");
  event.reasoning = text_of_member(delta, "reasoning_content") + text_of_member(delta, "reasoning");
  event.finish_reason = text_of_member(choice, "finish_reason");
}

}  // namespace

Result<StreamEvent> read_stream_event(std::string_view data) {
  const StreamJson json = StreamJson::parse(data, nullptr, false);
  if (!json.is_object()) {
    return make_error(ErrorCode::kCorrupt, "event of the stream: expected a JSON object, found '{}'", one_line(data));
  }
  StreamEvent event;
  event.error = message_of_error(member(json, "error"));
  const StreamJson& choices = member(json, "choices");
  if (choices.is_array() && !choices.empty()) read_choice(choices.front(), event);
  const StreamJson& usage = member(json, "usage");
  event.prompt_tokens = count_of_member(usage, "prompt_tokens");
  event.completion_tokens = count_of_member(usage, "completion_tokens");
  event.cached_tokens = count_of_member(member(usage, "prompt_tokens_details"), "cached_tokens");
  return event;
}

std::string message_of_refusal(const std::string& body) {
  const StreamJson json = StreamJson::parse(body, nullptr, false);
  if (!json.is_object()) return one_line(body);
  std::string message = message_of_error(member(json, "error"));
  for (const char* key : {"message", "detail"}) {
    if (message.empty()) message = text_of_member(json, key);
  }
  return one_line(message.empty() ? body : message);
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, kMostLineBytes));
  for (char& c : line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kMostLineBytes ? line + "..." : line;
}

}  // namespace ferrox
