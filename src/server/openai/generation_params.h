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

struct GenerationParams {
  GenerationRequest request;     ///< without its prompt; sampling.seed is resolved later
  std::optional<uint64_t> seed;  ///< absent: a random one
  std::vector<BiasEntry> logit_bias;
  int32_t n = 1;  ///< choices of each prompt; choice i samples with seed + i
  std::string model;
  bool stream = false;
  bool include_usage = false;  ///< a last chunk of a stream with the usage
};

/// Most completions that one HTTP request may start: prompts times choices.
inline constexpr int32_t kMaxChoices = 128;
inline constexpr int32_t kMaxTopLogprobs = 20;

/// Samplers, limits, stops, streaming.
std::span<const Field<GenerationParams>> generation_fields();

enum class UnknownFields { kListed, kRefused };

/// Walks the members of `body`: first `own`, then the shared table. Returns the names that had no effect.
template <class T>
ApiResult<std::vector<std::string>> read_fields(const Json& body, std::span<const Field<T>> own, UnknownFields unknown,
                                                T& params) {
  if (!body.is_object()) return wrong_value("body", "an object", body);
  std::vector<std::string> ignored;
  for (const auto& [name, value] : body.items()) {
    TRY_ASSIGN(FieldUse use, read_field(own, name, value, params));
    if (use == FieldUse::kUnknown) {
      TRY_ASSIGN(use, read_field(generation_fields(), name, value, static_cast<GenerationParams&>(params)));
    }
    if (use == FieldUse::kUnknown && unknown == UnknownFields::kRefused) {
      return invalid_request(name, name + ": expected a field of this endpoint, found an unknown one");
    }
    if (use != FieldUse::kTaken) ignored.push_back(name);
  }
  return ignored;
}

}  // namespace ferrox
