#include "server/reference/error_schemas.h"

#include <algorithm>
#include <string>
#include <vector>

#include "server/anthropic/message_error.h"
#include "server/error_kind.h"
#include "server/schema/json_schema.h"

namespace ferrox {
namespace {

/// `member(row)` of every row, each once, in the table's order.
template <class Member>
std::vector<std::string> distinct(const Member& member) {
  std::vector<std::string> all;
  for (const ErrorRow& row : error_table()) {
    if (std::ranges::find(all, member(row)) == all.end()) all.emplace_back(member(row));
  }
  return all;
}

Json nullable_text() { return {{"type", Json::array({"string", "null"})}}; }

Json error_schema() {
  Json properties = Json::object();
  properties["message"] = {{"type", "string"}, {"description", "where, what was expected, what was found"}};
  properties["type"] = one_of_words(distinct([](const ErrorRow& row) { return row.type; }));
  properties["param"] = nullable_text();
  properties["param"]["description"] = "the field at fault";
  properties["code"] = one_of_words(distinct([](const ErrorRow& row) { return row.code; }));
  Json outer = Json::object();
  outer["error"] = object_schema(std::move(properties), {"message", "type", "param", "code"});
  return object_schema(std::move(outer), {"error"});
}

Json message_error_schema() {
  Json properties = Json::object();
  properties["type"] = one_of_words(distinct([](const ErrorRow& row) { return message_error_type(row.status); }));
  properties["message"] = {{"type", "string"}, {"description", "where, what was expected, what was found"}};
  Json outer = Json::object();
  outer["type"] = {{"const", "error"}};
  outer["error"] = object_schema(std::move(properties), {"type", "message"});
  outer["request_id"] = {{"type", "string"}};
  return object_schema(std::move(outer), {"type", "error", "request_id"});
}

}  // namespace

Json error_schemas() {
  Json schemas = Json::object();
  schemas[kErrorName] = error_schema();
  schemas[kMessageErrorName] = message_error_schema();
  return schemas;
}

}  // namespace ferrox
