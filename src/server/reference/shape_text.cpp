#include "server/reference/shape_text.h"

#include <fmt/format.h>

namespace ferrox {
namespace {

std::string joined(const Json& items, const char* between, std::string (*say)(const Json&)) {
  std::string text;
  for (const Json& item : items) text += (text.empty() ? "" : between) + say(item);
  return text;
}

std::string word_of(const Json& value) { return value.is_string() ? value.get<std::string>() : dump_json(value); }

/// " of 1 to 16 bytes", " up to 16 bytes", or nothing.
std::string size_text(const Json& schema, const char* least, const char* most, const char* unit) {
  if (!schema.contains(most)) return "";
  if (!schema.contains(least)) return fmt::format(" up to {}{}", dump_json(schema.at(most)), unit);
  return fmt::format(" of {} to {}{}", dump_json(schema.at(least)), dump_json(schema.at(most)), unit);
}

std::string number_text(const Json& schema) {
  std::string text = schema.at("type").get<std::string>();
  text += fmt::format(" from {} to {}", dump_json(schema.at("minimum")), dump_json(schema.at("maximum")));
  if (schema.contains("not")) text += " except " + shape_text(schema["not"]);
  return text;
}

std::string list_text(const Json& schema) {
  if (schema.contains("prefixItems")) return "pair of " + joined(schema["prefixItems"], " and ", shape_text);
  return "list" + size_text(schema, "minItems", "maxItems", "") + ": " + shape_text(schema.at("items"));
}

std::string object_text(const Json& schema) {
  if (schema.contains("additionalProperties")) {
    return "object of any names: " + shape_text(schema["additionalProperties"]);
  }
  if (!schema.contains("properties")) return "object";
  std::string members;
  for (const auto& [name, member] : schema["properties"].items()) members += (members.empty() ? "" : ", ") + name;
  return "object with " + members;
}

}  // namespace

std::string shape_text(const Json& schema) {
  if (schema.contains("const")) return word_of(schema["const"]);
  if (schema.contains("enum")) return joined(schema["enum"], ", ", word_of);
  if (schema.contains("anyOf")) return joined(schema["anyOf"], "; or ", shape_text);
  if (!schema.contains("type")) return "anything";
  const std::string type = schema["type"].get<std::string>();
  if (type == "integer" || type == "number") return schema.contains("minimum") ? number_text(schema) : type;
  if (type == "string") return "text" + size_text(schema, "minLength", "maxLength", " bytes");
  if (type == "array") return list_text(schema);
  return type == "object" ? object_text(schema) : type;
}

}  // namespace ferrox
