#include "gguf/metadata.h"

#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace ferrox {
namespace {

// One scalar as type To, or nothing when the kinds differ or the value doesn't fit.
template <class To, class From>
std::optional<To> convert(const From& from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<From, bool> || std::is_same_v<To, bool>) {
    return std::nullopt;
  } else if constexpr (std::is_floating_point_v<To> && std::is_arithmetic_v<From>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if (!std::in_range<To>(from)) return std::nullopt;
    return static_cast<To>(from);
  } else {
    return std::nullopt;
  }
}

Error wrong_kind(std::string_view key, const char* expected, const MetaValue& found) {
  return make_error(ErrorCode::kCorrupt, "metadata key '{}': expected {}, found {}", key, expected, value_kind(found));
}

template <class To>
Result<To> scalar(std::string_view key, const char* expected, const MetaValue& value) {
  auto out = std::visit([](const auto& held) -> std::optional<To> { return convert<To>(held); }, value);
  if (!out) return wrong_kind(key, expected, value);
  return std::move(*out);
}

// Fills `out`; false when an element has another kind or doesn't fit.
template <class To, class From>
bool convert_all(const std::vector<From>& from, std::vector<To>& out) {
  out.reserve(from.size());
  for (const auto& element : from) {
    const auto converted = convert<To>(static_cast<From>(element));
    if (!converted) return false;
    out.push_back(*converted);
  }
  return true;
}

template <class To>
Result<std::vector<To>> array(std::string_view key, const char* expected, const MetaValue& value) {
  const auto* held = std::get_if<MetaArray>(&value);
  if (held == nullptr) return wrong_kind(key, expected, value);
  std::vector<To> out;
  if (!std::visit([&](const auto& from) { return convert_all(from, out); }, *held)) {
    return wrong_kind(key, expected, value);
  }
  return out;
}

// The fallback for an absent key; every other error stays one.
template <class T>
Result<T> or_fallback(Result<T> found, T fallback) {
  if (!found && found.error().code == ErrorCode::kNotFound) return fallback;
  return found;
}

}  // namespace

const char* value_kind(const MetaValue& value) {
  static constexpr const char* kArrayKinds[] = {"an array of signed integers", "an array of unsigned integers",
                                                "an array of floats", "an array of booleans", "an array of strings"};
  if (const auto* array = std::get_if<MetaArray>(&value)) return kArrayKinds[array->index()];
  if (const auto* number = std::get_if<int64_t>(&value)) return *number < 0 ? "a negative integer" : "a signed integer";
  static constexpr const char* kKinds[] = {"a signed integer", "an unsigned integer", "a float", "a boolean",
                                           "a string"};
  return kKinds[value.index()];
}

bool Metadata::add(std::string key, MetaValue value) {
  if (!index_.try_emplace(key, entries_.size()).second) return false;
  entries_.push_back({std::move(key), std::move(value)});
  return true;
}

const MetaValue* Metadata::find(std::string_view key) const {
  const auto at = index_.find(key);
  return at == index_.end() ? nullptr : &entries_[at->second].value;
}

Result<const MetaValue*> Metadata::require(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr) return make_error(ErrorCode::kNotFound, "metadata key '{}' is missing", key);
  return value;
}

Result<uint64_t> Metadata::get_uint(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return scalar<uint64_t>(key, "an unsigned integer", *value);
}

Result<double> Metadata::get_float(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return scalar<double>(key, "a number", *value);
}

Result<bool> Metadata::get_bool(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return scalar<bool>(key, "a boolean", *value);
}

Result<std::string> Metadata::get_string(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return scalar<std::string>(key, "a string", *value);
}

Result<uint64_t> Metadata::get_uint_or(std::string_view key, uint64_t fallback) const {
  return or_fallback(get_uint(key), fallback);
}

Result<double> Metadata::get_float_or(std::string_view key, double fallback) const {
  return or_fallback(get_float(key), fallback);
}

Result<bool> Metadata::get_bool_or(std::string_view key, bool fallback) const {
  return or_fallback(get_bool(key), fallback);
}

Result<std::string> Metadata::get_string_or(std::string_view key, std::string fallback) const {
  return or_fallback(get_string(key), std::move(fallback));
}

Result<std::vector<uint64_t>> Metadata::get_uints(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return array<uint64_t>(key, "an array of unsigned integers", *value);
}

Result<std::vector<int64_t>> Metadata::get_ints(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return array<int64_t>(key, "an array of integers", *value);
}

Result<std::vector<float>> Metadata::get_floats(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return array<float>(key, "an array of numbers", *value);
}

Result<std::vector<bool>> Metadata::get_bools(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  return array<bool>(key, "an array of booleans", *value);
}

Result<std::span<const std::string_view>> Metadata::get_strings(std::string_view key) const {
  TRY_ASSIGN(const auto* value, require(key));
  if (const auto* held = std::get_if<MetaArray>(value)) {
    if (const auto* strings = std::get_if<std::vector<std::string_view>>(held)) {
      return std::span<const std::string_view>(*strings);
    }
    if (std::visit([](const auto& elements) { return elements.empty(); }, *held)) {
      return std::span<const std::string_view>();
    }
  }
  return wrong_kind(key, "an array of strings", *value);
}

}  // namespace ferrox
