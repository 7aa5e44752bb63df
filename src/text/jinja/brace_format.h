// What does "text {}".format(values) print?
#pragma once

#include "text/jinja/object.h"
#include "text/jinja/text.h"

namespace ferrox::jinja {

/// Python's str.format with fields {}, {0}, {name}, {0.attribute}, {0[key]}, conversions !s and !r, and format
/// specifications without nested fields.
Value brace_format(Interpreter& interpreter, const Text& format, const Arguments& arguments);

}  // namespace ferrox::jinja
