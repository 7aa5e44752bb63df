// How are scalar values checked, and what do their errors say?
#include "server/schema/field.h"

#include <fmt/format.h>

#include <cmath>

namespace ferrox {
namespace {

/// Values are shown in errors, but never at length.
std::string shown(const Json& value) {
  if (value.is_discarded()) return "none";
  if (value.is_array() || value.is_object()) return kind_of(value);
  constexpr size_t kMaxBytes = 60;
  std::string text = dump_json(value);
  if (text.size() <= kMaxBytes) return text;
  return kind_of(value);
}

std::string range_text(FieldRange range) { return fmt::format("from {} to {}", range.min, range.max); }

/// Exactly: a double of an integer beyond kMostExact may be its neighbour's. Nothing for what no range holds.
std::optional<int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    return number <= INT64_MAX ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (number != std::floor(number) || std::abs(number) > kMostExact) return std::nullopt;
  return static_cast<int64_t>(number);
}

bool within(double number, FieldRange range) { return number >= range.min && number <= range.max; }

}  // namespace

ApiError wrong_value(std::string_view name, std::string_view expected, const Json& found) {
  return invalid_request(std::string(name), fmt::format("{}: expected {}, found {}", name, expected, shown(found)));
}

ApiError refused_field(std::string_view name) {
  return unsupported(std::string(name), fmt::format("{}: this server doesn't do it; leave the field out", name));
}

ApiResult<int64_t> read_integer(std::string_view name, const Json& value, FieldRange range) {
  const std::optional<int64_t> number = whole_number(value);
  if (!number || *number < static_cast<int64_t>(range.min) || *number > static_cast<int64_t>(range.max)) {
    return wrong_value(name, "an integer " + range_text(range), value);
  }
  return *number;
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
