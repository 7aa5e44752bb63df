// What does a quoted string in a template mean?
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/failure.h"

namespace ferrox::jinja {

/// Resolves Python's escapes (\n, \x41, \u00e9, \U0001F600, \101, ...); an unknown escape keeps its backslash.
/// `position` is where the string starts, for messages.
std::string unescape_literal(std::string_view written, Position position);

}  // namespace ferrox::jinja
