// How are arrays of strings and of token ids read?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/schema/field.h"
#include "server/schema/json_schema.h"

namespace ferrox {

inline constexpr FieldRange kTokenId{0, std::numeric_limits<int32_t>::max()};
/// Most entries of a list of token ids or biases.
inline constexpr size_t kMaxTokenList = 4096;

/// At most `max` strings, each of a length within `bytes`.
ApiResult<std::vector<std::string>> read_strings(const char* name, const Json& value, size_t max, FieldRange bytes);
Json strings_schema(size_t max, FieldRange bytes);

/// At most kMaxTokenList ids; whether the vocabulary has them is asked later.
ApiResult<std::vector<int32_t>> read_token_ids(const char* name, const Json& value);
Json token_ids_schema();

}  // namespace ferrox
