// How does JSON come in and go out? Hostile text is refused with a position; output never throws.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "base/result.h"

namespace ferrox {

/// Keeps the order of members: a template sees a client's objects as they were written.
using Json = nlohmann::ordered_json;

/// A body deeper or richer than this is no request: parsing must not cost a hundred times the body's bytes.
inline constexpr int kMaxJsonDepth = 128;
inline constexpr size_t kMaxJsonValues = 2'000'000;
/// Each new key of an object is compared with those before it.
inline constexpr size_t kMaxKeyComparisons = 20'000'000;

/// Parses one JSON value. kInvalidArgument: malformed (with the byte), beyond the limits above, invalid UTF-8,
/// a key twice in one object.
Result<Json> parse_json(std::string_view text);

/// Compact. Invalid UTF-8 becomes U+FFFD.
std::string dump_json(const Json& value);

/// "a string", "an object", ...: for messages that say what was found.
const char* kind_of(const Json& value);

}  // namespace ferrox
