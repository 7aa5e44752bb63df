// How does text change case, as Python's str methods do it?
#pragma once

#include "text/jinja/build.h"

namespace ferrox::jinja {

/// Each keeps the origin of every character and the markup flag.
Value to_upper(Budget& budget, const Text& text);
Value to_lower(Budget& budget, const Text& text);
/// First character in title case, the rest in lower case.
Value to_capitalized(Budget& budget, const Text& text);
/// str.title(): every run of letters capitalized.
Value to_title(Budget& budget, const Text& text);
/// The filter `title`: words start after white space, hyphens and opening brackets.
Value to_title_words(Budget& budget, const Text& text);
Value swap_case(Budget& budget, const Text& text);

}  // namespace ferrox::jinja
