// What do errors in arrays say?
#include "server/schema/array_fields.h"

#include <fmt/format.h>

namespace ferrox {

ApiResult<std::vector<std::string>> read_strings(const char* name, const Json& value, size_t max, FieldRange bytes) {
  if (!value.is_array()) return wrong_value(name, "an array of strings", value);
  if (value.size() > max) {
    return invalid_request(name, fmt::format("{}: expected at most {} strings, found {}", name, max, value.size()));
  }
  std::vector<std::string> out;
  for (const Json& item : value) {
    TRY_ASSIGN(out.emplace_back(), read_string(name, item, bytes));
  }
  return out;
}

Json strings_schema(size_t max, FieldRange bytes) {
  return array_schema(string_schema(bytes), {0, static_cast<double>(max)});
}

ApiResult<std::vector<int32_t>> read_token_ids(const char* name, const Json& value) {
  if (!value.is_array() || value.size() > kMaxTokenList) {
    return wrong_value(name, fmt::format("an array of at most {} token ids", kMaxTokenList), value);
  }
  std::vector<int32_t> out;
  for (const Json& item : value) {
    TRY_ASSIGN(const int64_t id, read_integer(name, item, kTokenId));
    out.push_back(static_cast<int32_t>(id));
  }
  return out;
}

Json token_ids_schema() { return array_schema(integer_schema(kTokenId), {0, static_cast<double>(kMaxTokenList)}); }

}  // namespace ferrox
