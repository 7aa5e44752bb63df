// How are scalar values checked, and what do their errors say?
#include "server/schema/field.h"

#include <fmt/format.h>

#include <cmath>

namespace ferrox {
namespace {

/// Values are shown in errors, but never at length.
std::string shown(const Json& value) {
  if (value.is_array() || value.is_object()) return kind_of(value);
  constexpr size_t kMaxBytes = 60;
  std::string text = dump_json(value);
  if (text.size() <= kMaxBytes) return text;
  return kind_of(value);
}

std::string range_text(FieldRange range) { return fmt::format("from {} to {}", range.min, range.max); }

bool within(double number, FieldRange range) { return number >= range.min && number <= range.max; }

}  // namespace

ApiError wrong_value(std::string_view name, std::string_view expected, const Json& found) {
  return invalid_request(std::string(name), fmt::format("{}: expected {}, found {}", name, expected, shown(found)));
}

ApiError refused_field(std::string_view name) {
  return unsupported(std::string(name), fmt::format("{}: this server doesn't do it; leave the field out", name));
}

ApiResult<int64_t> read_integer(std::string_view name, const Json& value, FieldRange range) {
  const bool is_number = value.is_number();
  const double number = is_number ? value.get<double>() : 0;
  if (!is_number || number != std::floor(number) || !within(number, range)) {
    return wrong_value(name, "an integer " + range_text(range), value);
  }
  // Every range lies within 2^53, where doubles hold integers exactly.
  return static_cast<int64_t>(number);
}

ApiResult<double> read_number(std::string_view name, const Json& value, FieldRange range) {
  if (!value.is_number() || !within(value.get<double>(), range)) {
    return wrong_value(name, "a number " + range_text(range), value);
  }
  return value.get<double>();
}

ApiResult<bool> read_boolean(std::string_view name, const Json& value) {
  if (!value.is_boolean()) return wrong_value(name, "true or false", value);
  return value.get<bool>();
}

ApiResult<std::string> read_string(std::string_view name, const Json& value, FieldRange range) {
  if (!value.is_string()) return wrong_value(name, "a string", value);
  auto text = value.get<std::string>();
  if (!within(static_cast<double>(text.size()), range)) {
    return invalid_request(std::string(name),
                           fmt::format("{}: expected a string with a length {} bytes, found {} bytes", name,
                                       range_text(range), text.size()));
  }
  return text;
}

}  // namespace ferrox
