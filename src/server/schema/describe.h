// How does a table of fields describe itself? By its own rows, with the defaults of what it reads into.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/schema/description.h"
#include "server/schema/field.h"
#include "server/schema/json_schema.h"

namespace ferrox {

namespace describe_detail {

inline bool is_within(double value, FieldRange range) { return value >= range.min && value <= range.max; }

/// The default of a number is one that could be sent; another one stands for "it depends", which is the doc's to say.
inline void add_default(Json value, FieldRange range, Json& schema) {
  if (is_within(value.get<double>(), range)) schema["default"] = std::move(value);
}

/// An overload for each kind of slot. `value` is a T as a request finds it.
template <class T>
struct SlotSchema {
  FieldRange range;
  T& value;

  Json operator()(int32_t& (*slot)(T&)) const { return whole(slot(value)); }
  Json operator()(int64_t& (*slot)(T&)) const { return whole(slot(value)); }
  Json operator()(std::optional<int64_t>& (*slot)(T&)) const {
    return slot(value) ? whole(*slot(value)) : integer_schema(range);
  }
  Json operator()(float& (*slot)(T&)) const {
    Json schema = number_schema(range);
    add_default(shortest_number(slot(value)), range, schema);
    return schema;
  }
  Json operator()(bool& (*slot)(T&)) const {
    Json schema = boolean_schema();
    schema["default"] = slot(value);
    return schema;
  }
  Json operator()(std::string& (*slot)(T&)) const {
    Json schema = string_schema(range);
    if (!slot(value).empty()) schema["default"] = slot(value);
    return schema;
  }
  Json operator()(const Structured<T>& slot) const { return slot.shape(); }
  Json operator()(const Refused&) const { return Json::object(); }
  Json operator()(const Inert&) const { return Json::object(); }

 private:
  Json whole(int64_t number) const {
    Json schema = integer_schema(range);
    add_default(number, range, schema);
    return schema;
  }
};

template <class T>
Standing standing_of(const FieldSlot<T>& slot) {
  if (std::holds_alternative<Refused>(slot)) return Standing::kRefused;
  return std::holds_alternative<Inert>(slot) ? Standing::kIgnored : Standing::kServed;
}

}  // namespace describe_detail

template <class T>
std::vector<FieldDescription> describe_fields(std::span<const Field<T>> table) {
  std::vector<FieldDescription> fields;
  T as_found{};
  for (const Field<T>& field : table) {
    FieldDescription& added = fields.emplace_back();
    added.name = field.name;
    added.doc = field.doc;
    added.standing = describe_detail::standing_of<T>(field.slot);
    added.is_required = field.presence == Presence::kRequired;
    added.schema = std::visit(describe_detail::SlotSchema<T>{field.range, as_found}, field.slot);
    if (added.is_required) added.schema.erase("default");
  }
  return fields;
}

/// Members of an object schema; a field that isn't served says so in an `x-` member.
Json properties_of(const std::vector<FieldDescription>& fields);
std::vector<std::string> required_of(const std::vector<FieldDescription>& fields);

/// The shape of an object inside a body, whose table has whole paths for names: "stream_options.include_usage".
template <class T>
Json nested_schema(std::string_view path, std::span<const Field<T>> table) {
  std::vector<FieldDescription> members = describe_fields(table);
  for (FieldDescription& member : members) member.name.erase(0, path.size() + 1);
  return object_schema(properties_of(members), required_of(members));
}

}  // namespace ferrox
