// What may both completion endpoints be asked? The shared fields, read by one table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/request.h"
#include "server/schema/field.h"

namespace ferrox {

/// A bias on one token, or on every token that a text encodes to.
struct BiasEntry {
  std::variant<int32_t, std::string> target;
  float bias;
};

/// What happens to names that no table has?
enum class UnknownFields { kListed, kRefused };

struct GenerationParams {
  GenerationRequest request;     ///< without its prompt; sampling.seed is resolved later
  std::optional<uint64_t> seed;  ///< absent: a random one
  std::vector<BiasEntry> logit_bias;
  int32_t n = 1;  ///< choices of each prompt; choice i samples with seed + i
  std::string model;
  bool stream = false;
  bool include_usage = false;  ///< a last chunk of a stream with the usage
  UnknownFields unknown = UnknownFields::kListed;
  std::vector<std::string> ignored;  ///< what had no effect, nested names with their path
};

/// Lists a name that no table has, or refuses it.
inline ApiResult<void> pass_over(std::string name, GenerationParams& params) {
  if (params.unknown == UnknownFields::kRefused) {
    return invalid_request(name, name + ": expected a field of this endpoint, found an unknown one");
  }
  params.ignored.push_back(std::move(name));
  return {};
}

/// Most completions that one HTTP request may start: prompts times choices.
inline constexpr int32_t kMaxChoices = 128;
inline constexpr int32_t kMaxTopLogprobs = 20;

/// Samplers, limits, stops, streaming.
std::span<const Field<GenerationParams>> generation_fields();

/// Walks the members of `body`: first `own`, then the shared table. What had no effect is listed in `params.ignored`.
template <class T>
ApiResult<void> read_fields(const Json& body, std::span<const Field<T>> own, UnknownFields unknown, T& params) {
  if (!body.is_object()) return wrong_value("body", "an object", body);
  params.unknown = unknown;
  for (const auto& [name, value] : body.items()) {
    TRY_ASSIGN(FieldUse use, read_field(own, name, value, params));
    if (use == FieldUse::kUnknown) {
      TRY_ASSIGN(use, read_field(generation_fields(), name, value, static_cast<GenerationParams&>(params)));
    }
    if (use == FieldUse::kUnknown) TRY(pass_over(name, params));
    if (use == FieldUse::kIgnored) params.ignored.push_back(name);
  }
  return {};
}

/// The same of an object inside a body, by a table whose names are whole paths: "stream_options.include_usage".
ApiResult<void> read_nested(const std::string& path, const Json& object, std::span<const Field<GenerationParams>> table,
                            GenerationParams& params);

}  // namespace ferrox
