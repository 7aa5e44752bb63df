// How is a whole body read by a table? Each member once, then those that must be there.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/schema/field.h"
#include "server/schema/field_notes.h"

namespace ferrox {

/// Reads the members of `body` one by one. What had no effect is listed in `notes`.
/// `read_one(name, value)` gives an ApiResult<FieldUse>.
template <class ReadOne>
ApiResult<void> walk_fields(const Json& body, UnknownFields unknown, FieldNotes& notes, const ReadOne& read_one) {
  if (!body.is_object()) return wrong_value("body", "an object", body);
  notes.unknown = unknown;
  for (const auto& [name, value] : body.items()) {
    TRY_ASSIGN(const FieldUse use, read_one(name, value));
    if (use == FieldUse::kUnknown) TRY(pass_over(name, notes));
    if (use == FieldUse::kIgnored) notes.ignored.push_back(name);
  }
  return {};
}

/// A body of one table, read into a T, which is a FieldNotes. No body at all is an object without members.
template <class T>
ApiResult<T> read_body(std::string_view body, std::span<const Field<T>> table, UnknownFields unknown) {
  const auto json = parse_json(body.empty() ? "{}" : body);
  if (!json) return invalid_request("", json.error().message);
  T target;
  const auto read_one = [&](const std::string& name, const Json& value) {
    return read_field(table, name, value, target);
  };
  TRY(walk_fields(*json, unknown, target, read_one));
  TRY(require_fields(table, *json, target));
  return target;
}

}  // namespace ferrox
