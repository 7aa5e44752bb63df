// How is text cut, joined, padded and searched, as Python's str methods do it?
#pragma once

#include <optional>
#include <vector>

#include "text/jinja/build.h"
#include "text/jinja/codepoint.h"

namespace ferrox::jinja {

enum class Side : uint8_t { kLeft, kRight, kBoth };

/// Without the characters of `chars` (white space when null) at the given side.
Value strip(Budget& budget, const Text& text, Side side, const Text* chars);

/// Places of `separator` within text, left to right, without overlap, at most `max_count`.
std::vector<size_t> find_all(Budget& budget, std::string_view text, std::string_view separator, size_t max_count);

/// str.split / str.rsplit; a null separator means runs of white space. `from` tells at which end `max_splits` counts.
Value split(Budget& budget, const Text& text, const Text* separator, size_t max_splits, Side from);
/// str.splitlines; `keep_ends` keeps the line ends.
enum class LineEnds : uint8_t { kDrop, kKeep };
std::vector<ByteRange> line_ranges(std::string_view text, LineEnds ends);
Value split_lines(Budget& budget, const Text& text, LineEnds ends);
/// str.partition / str.rpartition.
Value partition(Budget& budget, const Text& text, const Text& separator, Side from);

Value replace(Budget& budget, const Text& text, const Text& old, const Text& replacement, size_t max_count);
/// Padded with `fill` to `width` characters; `side` is where the text stays, kBoth centres it.
Value pad(Budget& budget, const Text& text, size_t width, const Text& fill, Side side);

}  // namespace ferrox::jinja
