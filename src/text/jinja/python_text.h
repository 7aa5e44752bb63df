// How does Python print a value: str() and repr()?
#pragma once

#include "text/jinja/budget.h"
#include "text/jinja/build.h"
#include "text/jinja/value.h"

namespace ferrox::jinja {

/// Python's str(value). Strings in it keep the origin of their bytes; all else is the template's.
TextPtr to_text(Budget& budget, const Value& value);
/// Adds Python's repr(value).
void add_repr(Budget& budget, TextBuilder& out, const Value& value);

}  // namespace ferrox::jinja
