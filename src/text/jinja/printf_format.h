// What does "text" % values print?
#pragma once

#include "text/jinja/build.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// Python's % on a string: `values` is a tuple, a dict for %(name)s, or one value.
Value printf_format(Budget& budget, const Text& format, const Value& values);

}  // namespace ferrox::jinja
