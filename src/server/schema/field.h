// What is one field of a request? A name, a range, a place to put it and a line of documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "server/api_error.h"
#include "server/json_text.h"
#include "server/schema/field_range.h"

namespace ferrox {

/// Known and not served: refused by name, unless the value asks for nothing (null always does).
struct Refused {
  bool (*asks_nothing)(const Json& value) = nullptr;
};

/// Known and without effect here: accepted, and listed among the ignored fields.
struct Inert {};

/// Neither a number, a text nor a truth value: a function reads it, another one says in JSON Schema what that takes.
template <class T>
struct Structured {
  ApiResult<void> (*read)(const Json& value, T& target);
  Json (*shape)();
};

/// Where a value goes, by its type: the place inside T, or a structured value.
template <class T>
using FieldSlot = std::variant<int32_t& (*)(T&), int64_t& (*)(T&), std::optional<int64_t>& (*)(T&), float& (*)(T&),
                               bool& (*)(T&), std::string& (*)(T&), Structured<T>, Refused, Inert>;

enum class Presence { kOptional, kRequired };

template <class T>
struct Field {
  const char* name;
  FieldSlot<T> slot;
  FieldRange range;  ///< of numbers, and of a text's bytes
  const char* doc;
  Presence presence = Presence::kOptional;
};

enum class FieldUse { kTaken, kIgnored, kUnknown };

/// What stands for a field that isn't there, in errors.
inline Json absent_value() { return Json::value_t::discarded; }

/// Each reads one value; errors are 400 and name field, expected range and value found. 3.0 is an integer, 3.5 isn't.
ApiResult<int64_t> read_integer(std::string_view name, const Json& value, FieldRange range);
ApiResult<double> read_number(std::string_view name, const Json& value, FieldRange range);
ApiResult<bool> read_boolean(std::string_view name, const Json& value);
ApiResult<std::string> read_string(std::string_view name, const Json& value, FieldRange range);

/// 400: "<name>: expected <expected>, found <kind or value>".
ApiError wrong_value(std::string_view name, std::string_view expected, const Json& found);
ApiError refused_field(std::string_view name);

namespace field_detail {

template <class T>
ApiResult<void> assign(const Field<T>& field, const Json& value, T& target) {
  return std::visit(
      [&](const auto& slot) -> ApiResult<void> {
        using Slot = std::decay_t<decltype(slot)>;
        if constexpr (std::is_same_v<Slot, int32_t& (*)(T&)>) {
          TRY_ASSIGN(const int64_t number, read_integer(field.name, value, field.range));
          slot(target) = static_cast<int32_t>(number);
        } else if constexpr (std::is_same_v<Slot, int64_t& (*)(T&)> ||
                             std::is_same_v<Slot, std::optional<int64_t>& (*)(T&)>) {
          TRY_ASSIGN(slot(target), read_integer(field.name, value, field.range));
        } else if constexpr (std::is_same_v<Slot, float& (*)(T&)>) {
          TRY_ASSIGN(const double number, read_number(field.name, value, field.range));
          slot(target) = static_cast<float>(number);
        } else if constexpr (std::is_same_v<Slot, bool& (*)(T&)>) {
          TRY_ASSIGN(slot(target), read_boolean(field.name, value));
        } else if constexpr (std::is_same_v<Slot, std::string& (*)(T&)>) {
          TRY_ASSIGN(slot(target), read_string(field.name, value, field.range));
        } else if constexpr (std::is_same_v<Slot, Structured<T>>) {
          return slot.read(value, target);
        } else if constexpr (std::is_same_v<Slot, Refused>) {
          if (slot.asks_nothing == nullptr || !slot.asks_nothing(value)) return refused_field(field.name);
        }
        return {};
      },
      field.slot);
}

}  // namespace field_detail

/// Reads `value` into `target` when the table has a field of that name. null counts as absent.
template <class T>
ApiResult<FieldUse> read_field(std::span<const Field<T>> table, std::string_view name, const Json& value, T& target) {
  for (const Field<T>& field : table) {
    if (name != field.name) continue;
    if (value.is_null()) return FieldUse::kTaken;
    if (auto read = field_detail::assign(field, value, target); !read) return read.error();
    return std::holds_alternative<Inert>(field.slot) ? FieldUse::kIgnored : FieldUse::kTaken;
  }
  return FieldUse::kUnknown;
}

/// 400: what a required field of the table takes, when `object` hasn't it.
template <class T>
ApiResult<void> require_fields(std::span<const Field<T>> table, const Json& object, T& target) {
  for (const Field<T>& field : table) {
    if (field.presence != Presence::kRequired) continue;
    const auto found = object.find(field.name);
    if (found == object.end() || found->is_null()) TRY(field_detail::assign(field, absent_value(), target));
  }
  return {};
}

}  // namespace ferrox
