// What does every dialect read a request into? The engine's request, and what the answer has to know beside it.
#pragma once

#include <cstdint>
#include <optional>
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

/// Reads the members of `body` one by one. What had no effect is listed in `params.ignored`.
/// `read_one(name, value)` gives an ApiResult<FieldUse>.
template <class ReadOne>
ApiResult<void> walk_fields(const Json& body, UnknownFields unknown, GenerationParams& params,
                            const ReadOne& read_one) {
  if (!body.is_object()) return wrong_value("body", "an object", body);
  params.unknown = unknown;
  for (const auto& [name, value] : body.items()) {
    TRY_ASSIGN(const FieldUse use, read_one(name, value));
    if (use == FieldUse::kUnknown) TRY(pass_over(name, params));
    if (use == FieldUse::kIgnored) params.ignored.push_back(name);
  }
  return {};
}

/// Whether the same request gives the same text again: it names a seed, or nothing of it is left to chance.
bool is_repeatable(const GenerationParams& params);

/// The seed that was asked for, or a random one: small enough for a client whose numbers are doubles to send it back.
uint64_t choose_seed(const GenerationParams& params);

}  // namespace ferrox
