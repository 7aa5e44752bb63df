// What do attribute='a.b.0' and case_sensitive=false mean to filters?
#pragma once

#include <vector>

#include "text/jinja/interpreter.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// Follows a dotted path of items and attributes, or one integer index. A missing step becomes `fallback` when that
/// isn't undefined.
Value follow_path(Interpreter& interpreter, const Value& item, const Value& path, const Value& fallback);

enum class CaseRule : uint8_t { kIgnore, kKeep };

/// What a filter compares: the item, or what the path leads to (none: no path), lower-cased on kIgnore.
Value sort_key(Interpreter& interpreter, const Value& item, const Value& path, CaseRule rule);

}  // namespace ferrox::jinja
