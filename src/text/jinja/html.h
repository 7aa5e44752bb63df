// How is text escaped for HTML?
#pragma once

#include "text/jinja/build.h"

namespace ferrox::jinja {

/// Adds the text with & < > " ' replaced by entities, which keep the origin of what they replace.
void add_escaped(TextBuilder& out, const Text& text);

}  // namespace ferrox::jinja
