#include "server/schema/json_schema.h"

#include <fmt/format.h>

#include <cmath>

namespace ferrox {
namespace {

/// Characters of UTF-8 have up to as many bytes.
constexpr double kMostBytesOfCharacter = 4;

Json bound(double value) {
  if (value == std::floor(value) && std::abs(value) <= kMostExact) return static_cast<int64_t>(value);
  return value;
}

}  // namespace

Json integer_schema(FieldRange range) {
  return {{"type", "integer"}, {"minimum", bound(range.min)}, {"maximum", bound(range.max)}};
}

Json number_schema(FieldRange range) {
  return {{"type", "number"}, {"minimum", bound(range.min)}, {"maximum", bound(range.max)}};
}

Json boolean_schema() { return {{"type", "boolean"}}; }

Json string_schema(FieldRange bytes) {
  Json schema = {{"type", "string"}};
  if (bytes.min > 0) schema["minLength"] = bound(std::ceil(bytes.min / kMostBytesOfCharacter));
  schema["maxLength"] = bound(bytes.max);
  return schema;
}

Json array_schema(Json items, FieldRange sizes) {
  Json schema = {{"type", "array"}, {"items", std::move(items)}};
  if (sizes.min > 0) schema["minItems"] = bound(sizes.min);
  schema["maxItems"] = bound(sizes.max);
  return schema;
}

Json one_of_words(const std::vector<std::string>& words) { return {{"type", "string"}, {"enum", words}}; }

Json any_of(std::initializer_list<Json> shapes) {
  Json all = Json::array();
  for (const Json& shape : shapes) all.push_back(shape);
  return {{"anyOf", std::move(all)}};
}

Json object_schema(Json properties, const std::vector<std::string>& required) {
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

Json shortest_number(float value) { return Json::parse(fmt::format("{}", value)); }

}  // namespace ferrox
