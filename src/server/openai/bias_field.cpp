// How is logit_bias read: by token id, by text, as an object or as pairs?
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <variant>

#include "server/openai/structured_fields.h"
#include "server/schema/array_fields.h"

namespace ferrox {
namespace {

constexpr FieldRange kBias{-100, 100};

/// false bans, a number is added.
ApiResult<float> read_bias(const Json& value) {
  if (value.is_boolean() && !value.get<bool>()) return -std::numeric_limits<float>::infinity();
  TRY_ASSIGN(const double bias, read_number("logit_bias", value, kBias));
  return static_cast<float>(bias);
}

ApiResult<std::variant<int32_t, std::string>> bias_text(std::string text) {
  if (text.empty()) return wrong_value("logit_bias", "token ids or text", text);
  return std::variant<int32_t, std::string>(std::move(text));
}

/// A key of the object form: a number is a token id, all else is text. Pairs can name the text of a number.
ApiResult<std::variant<int32_t, std::string>> bias_target(const std::string& key) {
  const size_t first_digit = key.starts_with('-') || key.starts_with('+') ? 1 : 0;
  const bool is_number =
      key.size() > first_digit && key.find_first_not_of("0123456789", first_digit) == std::string::npos;
  if (!is_number) return bias_text(key);
  int32_t id = 0;
  const char* const end = key.data() + key.size();
  const auto parsed = std::from_chars(key.data(), end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end || id < 0) {
    return wrong_value("logit_bias", fmt::format("token ids from 0 to {}", kTokenId.max), key);
  }
  return std::variant<int32_t, std::string>(id);
}

ApiResult<BiasEntry> read_bias_pair(const Json& pair) {
  if (!pair.is_array() || pair.size() != 2) return wrong_value("logit_bias", "pairs [token id or text, bias]", pair);
  TRY_ASSIGN(const float bias, read_bias(pair[1]));
  if (pair[0].is_string()) {
    TRY_ASSIGN(auto text, bias_text(pair[0].get<std::string>()));
    return BiasEntry{std::move(text), bias};
  }
  TRY_ASSIGN(const int64_t id, read_integer("logit_bias", pair[0], kTokenId));
  return BiasEntry{static_cast<int32_t>(id), bias};
}

}  // namespace

ApiResult<void> read_logit_bias(const Json& value, GenerationParams& params) {
  if (!value.is_object() && !value.is_array())
    return wrong_value("logit_bias", "an object or an array of pairs", value);
  if (value.size() > kMaxTokenList) {
    return invalid_request("logit_bias", fmt::format("logit_bias: expected at most {} entries", kMaxTokenList));
  }
  params.logit_bias.clear();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      TRY_ASSIGN(BiasEntry entry, read_bias_pair(item));
      params.logit_bias.push_back(std::move(entry));
    } else {
      TRY_ASSIGN(const float bias, read_bias(item));
      TRY_ASSIGN(auto target, bias_target(key));
      params.logit_bias.push_back({std::move(target), bias});
    }
  }
  return {};
}

Json logit_bias_schema() {
  const Json bias = any_of({number_schema(kBias), {{"const", false}}});
  const Json target = any_of({integer_schema(kTokenId), {{"type", "string"}}});
  const Json pair = {{"type", "array"}, {"prefixItems", Json::array({target, bias})}, {"minItems", 2}, {"maxItems", 2}};
  const Json by_name = {{"type", "object"}, {"additionalProperties", bias}, {"maxProperties", kMaxTokenList}};
  return any_of({by_name, array_schema(pair, {0, static_cast<double>(kMaxTokenList)})});
}

}  // namespace ferrox
