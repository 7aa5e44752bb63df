// How is a conversation checked?
#include "server/openai/chat_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "server/request/chat_prompt.h"
#include "server/schema/field.h"
#include "server/schema/json_schema.h"

namespace ferrox {
namespace {

constexpr std::array<std::string_view, 6> kRoles = {"system", "developer", "user", "assistant", "tool", "function"};

const Json* find(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

ApiResult<void> check_part(const std::string& place, const Json& part) {
  const Json* type = part.is_object() ? find(part, "type") : nullptr;
  if (type == nullptr || !type->is_string()) return wrong_value(place, "an object with a type", part);
  if (*type != "text") {
    return unsupported(place + ".type", place + ".type: expected text, found " + dump_json(*type));
  }
  const Json* text = find(part, "text");
  if (text == nullptr || !text->is_string()) return wrong_value(place + ".text", "a string", text ? *text : Json());
  return {};
}

ApiResult<void> check_content(const std::string& place, const Json& content) {
  if (content.is_string()) return {};
  if (!content.is_array()) return wrong_value(place, "a string or an array of parts", content);
  for (size_t i = 0; i < content.size(); ++i) TRY(check_part(fmt::format("{}[{}]", place, i), content[i]));
  return {};
}

ApiResult<void> check_tool_calls(const std::string& place, const Json& calls) {
  if (!calls.is_array()) return wrong_value(place, "an array", calls);
  for (size_t i = 0; i < calls.size(); ++i) {
    const Json* function = calls[i].is_object() ? find(calls[i], "function") : nullptr;
    const Json* name = function != nullptr && function->is_object() ? find(*function, "name") : nullptr;
    if (name == nullptr || !name->is_string()) {
      return wrong_value(fmt::format("{}[{}]", place, i), "an object with a function that has a name", calls[i]);
    }
  }
  return {};
}

ApiResult<void> check_message(const std::string& place, const Json& message) {
  if (!message.is_object()) return wrong_value(place, "an object", message);
  const Json* role = find(message, "role");
  if (role == nullptr || !role->is_string() ||
      std::find(kRoles.begin(), kRoles.end(), role->get_ref<const std::string&>()) == kRoles.end()) {
    return wrong_value(place + ".role", "system, developer, user, assistant, tool or function", role ? *role : Json());
  }
  const Json* content = find(message, "content");
  const Json* calls = find(message, "tool_calls");
  if (content != nullptr) TRY(check_content(place + ".content", *content));
  if (calls != nullptr) TRY(check_tool_calls(place + ".tool_calls", *calls));
  if (content == nullptr && *role != "assistant") return wrong_value(place + ".content", "text", Json());
  if (find(message, "audio") != nullptr) return refused_field(place + ".audio");
  return {};
}

}  // namespace

ApiResult<void> check_messages(const Json& messages) {
  if (!messages.is_array()) return wrong_value("messages", "an array", messages);
  if (messages.empty() || messages.size() > kMaxMessages) {
    return invalid_request("messages",
                           fmt::format("messages: expected 1 to {} messages, found {}", kMaxMessages, messages.size()));
  }
  for (size_t i = 0; i < messages.size(); ++i) TRY(check_message(fmt::format("messages[{}]", i), messages[i]));
  return {};
}

Json messages_schema() {
  const Json text = {{"type", "string"}};
  const Json part = object_schema({{"type", {{"const", "text"}}}, {"text", text}}, {"type", "text"});
  const Json parts = {{"type", "array"}, {"items", part}};
  const Json call = object_schema({{"function", object_schema({{"name", text}}, {"name"})}}, {"function"});
  const Json calls = {{"type", "array"}, {"items", call}};
  const std::vector<std::string> roles(kRoles.begin(), kRoles.end());
  Json message = object_schema(
      {{"role", one_of_words(roles)}, {"content", any_of({text, parts, {{"type", "null"}}})}, {"tool_calls", calls}},
      {"role"});
  return array_schema(std::move(message), {1, static_cast<double>(kMaxMessages)});
}

}  // namespace ferrox
