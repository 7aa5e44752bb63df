// Which fields do both completion endpoints share? One table, and the walk through a body with it.
#pragma once

#include <span>
#include <string>

#include "server/request/generation_params.h"
#include "server/schema/description.h"

namespace ferrox {

/// Most completions that one HTTP request may start: prompts times choices.
inline constexpr int32_t kMaxChoices = 128;
inline constexpr int32_t kMaxTopLogprobs = 20;

/// Samplers, limits, stops, streaming.
std::span<const Field<GenerationParams>> generation_fields();
FieldGroup describe_generation();

/// Reads the members of `body`: first `own`, then the shared table. What `own` requires must be there.
template <class T>
ApiResult<void> read_fields(const Json& body, std::span<const Field<T>> own, UnknownFields unknown, T& params) {
  const auto read_one = [&](const std::string& name, const Json& value) -> ApiResult<FieldUse> {
    TRY_ASSIGN(const FieldUse use, read_field(own, name, value, params));
    if (use != FieldUse::kUnknown) return use;
    return read_field(generation_fields(), name, value, static_cast<GenerationParams&>(params));
  };
  TRY(walk_fields(body, unknown, params, read_one));
  return require_fields(own, body, params);
}

/// The same of an object inside a body, by a table whose names are whole paths: "stream_options.include_usage".
ApiResult<void> read_nested(const std::string& path, const Json& object, std::span<const Field<GenerationParams>> table,
                            GenerationParams& params);

}  // namespace ferrox
