// In which order are messages fitted, and what becomes of each?
#include "text/chat_fit.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace ferrox {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBetweenFolded = "\n\n";

bool has_role(const Json& message, std::string_view role) {
  const auto found = message.find("role");
  return found != message.end() && *found == role;
}

bool is_part_list(const Json& message) {
  const auto found = message.find("content");
  return found != message.end() && found->is_array();
}

bool has_calls(const Json& message) {
  const auto found = message.find("tool_calls");
  return found != message.end() && found->is_array() && !found->empty();
}

/// The text of a content part: {"type": "text", "text": ...} and its kin of other APIs.
Result<std::string> part_text(const Json& part, size_t message_index) {
  if (part.is_string()) return part.get<std::string>();
  if (part.is_object()) {
    const auto text = part.find("text");
    if (text != part.end() && text->is_string()) return text->get<std::string>();
  }
  const Json type = part.is_object() ? part.value("type", Json()) : Json();
  return make_error(ErrorCode::kInvalidArgument, "messages[{}].content: expected text parts, found {}", message_index,
                    type.is_string() ? "'" + type.get<std::string>() + "'" : std::string("another kind"));
}

Json text_part(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

class Fitter {
 public:
  Fitter(const Json& messages, const ChatCaps& caps) : caps_(caps), messages_(messages) {}

  Result<FittedMessages> run() {
    if (!messages_.is_array()) {
      return make_error(ErrorCode::kInvalidArgument, "messages: expected an array, found {}", messages_.type_name());
    }
    for (size_t i = 0; i < messages_.size(); ++i) {
      TRY(fit_message(i));
    }
    if (!caps_.system_role) fold_system_messages();
    return FittedMessages{std::move(messages_), std::move(adjustments_)};
  }

 private:
  void note(std::string_view adjustment) {
    const bool known = std::find(adjustments_.begin(), adjustments_.end(), adjustment) != adjustments_.end();
    if (!known) adjustments_.emplace_back(adjustment);
  }

  Result<void> fit_message(size_t index) {
    Json& message = messages_[index];
    if (!message.is_object()) {
      return make_error(ErrorCode::kInvalidArgument, "messages[{}]: expected an object, found {}", index,
                        message.type_name());
    }
    TRY(fit_content(message, index));
    if (has_role(message, "developer") && !caps_.developer_role) {
      message["role"] = "system";
      note("developer-role-as-system");
    }
    if (has_calls(message)) fit_calls(message);
    return {};
  }

  Result<void> fit_content(Json& message, size_t index) {
    if (is_part_list(message) && !caps_.part_content) {
      std::string joined;
      for (const Json& part : message["content"]) {
        TRY_ASSIGN(const std::string text, part_text(part, index));
        joined += text;
      }
      message["content"] = joined;
      note("content-parts-joined");
    }
    const auto content = message.find("content");
    if (content != message.end() && content->is_string() && !caps_.text_content && caps_.part_content) {
      *content = Json::array({text_part(content->get<std::string>())});
      note("content-put-in-part");
    }
    return {};
  }

  void fit_calls(Json& message) {
    for (Json& call : message["tool_calls"]) {
      Json* function = call.is_object() && call.contains("function") ? &call["function"] : &call;
      if (function->is_object() && function->contains("arguments")) fit_arguments((*function)["arguments"]);
    }
    const auto content = message.find("content");
    const bool is_null = content == message.end() || content->is_null();
    if (is_null && !caps_.null_content && caps_.empty_content) {
      message["content"] = "";
      note("null-content-emptied");
    } else if (!is_null && *content == "" && !caps_.empty_content && caps_.null_content) {
      *content = nullptr;
      note("empty-content-nulled");
    }
  }

  void fit_arguments(Json& arguments) {
    if (arguments.is_string() && caps_.object_arguments) {
      parse_arguments(arguments);
    } else if (!arguments.is_string() && !caps_.object_arguments && caps_.text_arguments) {
      arguments = arguments.dump();
      note("arguments-serialized");
    }
  }

  /// Text that isn't a JSON object stays text where the template takes text; elsewhere it goes in under one key.
  void parse_arguments(Json& arguments) {
    const auto& text = arguments.get_ref<const std::string&>();
    const bool is_blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
    Json parsed = is_blank ? Json::object() : Json::parse(text, nullptr, false);
    if (parsed.is_object()) {
      arguments = std::move(parsed);
      note("arguments-parsed");
    } else if (!caps_.text_arguments) {
      arguments = Json{{"raw", text}};
      note("arguments-kept-as-text");
    }
  }

  /// Puts the text of each system message in front of the next user message.
  void fold_system_messages() {
    Json kept = Json::array();
    std::string pending;
    for (Json& message : messages_) {
      if (has_role(message, "system")) {
        pending += text_of(message) + std::string(kBetweenFolded);
        note("system-message-folded");
        continue;
      }
      if (!pending.empty() && has_role(message, "user")) prepend(message, std::exchange(pending, ""));
      kept.push_back(std::move(message));
    }
    if (!pending.empty()) {
      pending.resize(pending.size() - kBetweenFolded.size());
      kept.push_back({{"role", "user"}, {"content", content_of(pending)}});
    }
    messages_ = std::move(kept);
  }

  static std::string text_of(const Json& message) {
    const Json content = message.value("content", Json());
    if (content.is_string()) return content.get<std::string>();
    std::string text;
    for (const Json& part : content.is_array() ? content : Json::array()) {
      if (const auto piece = part_text(part, 0)) text += *piece;
    }
    return text;
  }

  Json content_of(const std::string& text) const {
    return caps_.text_content ? Json(text) : Json::array({text_part(text)});
  }

  void prepend(Json& message, const std::string& text) const {
    if (is_part_list(message)) {
      Json parts = Json::array({text_part(text)});
      for (Json& part : message["content"]) parts.push_back(std::move(part));
      message["content"] = std::move(parts);
    } else {
      message["content"] = content_of(text + text_of(message));
    }
  }

  const ChatCaps& caps_;
  Json messages_;
  std::vector<std::string> adjustments_;
};

}  // namespace

Result<FittedMessages> fit_messages(const Json& messages, const ChatCaps& caps) { return Fitter(messages, caps).run(); }

}  // namespace ferrox
