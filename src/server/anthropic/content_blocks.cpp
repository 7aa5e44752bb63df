// Which blocks and members does a message have, and what is done with those that aren't text?
#include "server/anthropic/content_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/request/chat_prompt.h"
#include "server/schema/json_schema.h"

namespace ferrox {
namespace {

/// Where something stands: for errors with its number, for lists of what was ignored without.
struct Place {
  std::string exact;    ///< "messages[3].content[0]"
  std::string general;  ///< "messages[].content[]"

  Place member(const std::string& name) const { return {exact + "." + name, general + "." + name}; }
  Place item(size_t index) const { return {fmt::format("{}[{}]", exact, index), general + "[]"}; }
};

const Json& member_or_null(const Json& object, const char* name) {
  static const Json kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

/// Members beside `known` are listed once, whatever block they stand in.
ApiResult<void> pass_over_members(const Place& place, const Json& object, std::initializer_list<const char*> known,
                                  MessageRequest& message) {
  for (const auto& [name, value] : object.items()) {
    const auto is_name = [&name = name](const char* other) { return name == other; };
    const bool says_nothing = value.is_null() || (value.is_array() && value.empty());
    if (says_nothing || std::ranges::any_of(known, is_name)) continue;
    const std::string path = place.member(name).general;
    if (std::ranges::find(message.ignored, path) != message.ignored.end()) continue;
    if (name == "cache_control" || name == "citations") {
      message.ignored.push_back(path);
    } else {
      TRY(pass_over(path, message));
    }
  }
  return {};
}

ApiResult<Json> read_block(const Place& place, const Json& block, MessageRequest& message) {
  const Json type = block.is_object() ? member_or_null(block, "type") : Json();
  if (!type.is_string()) return wrong_value(place.exact, "an object with a type", block);
  if (type != "text") {
    const std::string path = place.member("type").exact;
    return unsupported(path, fmt::format("{}: expected text, found {}", path, dump_json(type)));
  }
  const Json& text = member_or_null(block, "text");
  if (!text.is_string()) return wrong_value(place.member("text").exact, "a string", text);
  TRY(pass_over_members(place, block, {"type", "text"}, message));
  return Json{{"type", "text"}, {"text", text}};
}

ApiResult<Json> read_blocks(const Place& place, const Json& content, MessageRequest& message) {
  if (content.is_string()) return content;
  if (!content.is_array()) return wrong_value(place.exact, "a string or an array of blocks", content);
  Json parts = Json::array();
  for (size_t i = 0; i < content.size(); ++i) {
    TRY_ASSIGN(Json part, read_block(place.item(i), content[i], message));
    parts.push_back(std::move(part));
  }
  return parts;
}

ApiResult<Json> read_one_message(const Place& place, const Json& object, MessageRequest& message) {
  if (!object.is_object()) return wrong_value(place.exact, "an object", object);
  const Json& role = member_or_null(object, "role");
  if (role != "user" && role != "assistant") return wrong_value(place.member("role").exact, "user or assistant", role);
  TRY_ASSIGN(Json content, read_blocks(place.member("content"), member_or_null(object, "content"), message));
  TRY(pass_over_members(place, object, {"role", "content"}, message));
  return Json{{"role", role}, {"content", std::move(content)}};
}

}  // namespace

ApiResult<void> read_system(const Json& value, MessageRequest& message) {
  TRY_ASSIGN(Json system, read_blocks({"system", "system"}, value, message));
  const bool says_nothing = system.is_string() ? system == "" : system.empty();
  message.system = says_nothing ? Json() : std::move(system);
  return {};
}

Json content_schema() {
  const Json text = {{"type", "string"}};
  const Json block = object_schema({{"type", {{"const", "text"}}}, {"text", text}}, {"type", "text"});
  return any_of({text, {{"type", "array"}, {"items", block}}});
}

ApiResult<void> read_message_list(const Json& value, MessageRequest& message) {
  if (!value.is_array()) return wrong_value("messages", "an array", value);
  if (value.empty() || value.size() > kMaxMessages) {
    return invalid_request("messages",
                           fmt::format("messages: expected 1 to {} messages, found {}", kMaxMessages, value.size()));
  }
  const Place list{"messages", "messages"};
  message.messages = Json::array();
  for (size_t i = 0; i < value.size(); ++i) {
    TRY_ASSIGN(Json one, read_one_message(list.item(i), value[i], message));
    message.messages.push_back(std::move(one));
  }
  if (message.messages.back()["role"] == "user") return {};
  const std::string path = list.item(value.size() - 1).member("role").exact;
  return unsupported(path, path + ": expected user, found assistant; an answer can't go on from given words");
}

Json message_list_schema() {
  Json message = object_schema({{"role", one_of_words({"user", "assistant"})}, {"content", content_schema()}},
                               {"role", "content"});
  return array_schema(std::move(message), {1, static_cast<double>(kMaxMessages)});
}

}  // namespace ferrox
