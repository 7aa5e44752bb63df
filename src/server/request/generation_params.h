// What does every dialect read a request into? The engine's request, and what the answer has to know beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/request.h"
#include "server/schema/body.h"

namespace ferrox {

/// A bias on one token, or on every token that a text encodes to.
struct BiasEntry {
  std::variant<int32_t, std::string> target;
  float bias;
};

struct GenerationParams : FieldNotes {
  GenerationRequest request;     ///< without its prompt; sampling.seed is resolved later
  std::optional<uint64_t> seed;  ///< absent: a random one
  std::vector<BiasEntry> logit_bias;
  int32_t n = 1;  ///< choices of each prompt; choice i samples with seed + i
  std::string model;
  bool stream = false;
  bool include_usage = false;  ///< a last chunk of a stream with the usage
};

/// Whether the same request gives the same text again: it names a seed, or nothing of it is left to chance.
bool is_repeatable(const GenerationParams& params);

/// The seed that was asked for, or a random one: small enough for a client whose numbers are doubles to send it back.
uint64_t choose_seed(const GenerationParams& params);

}  // namespace ferrox
