// Which known name did a mistyped one mean?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ferrox {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The known name that is nearest, the first of equals; nothing when none is near: more than a third of its letters
/// (at least one, leading dashes not counted) would have to change.
std::optional<std::string> nearest_name(std::string_view typed, std::span<const std::string> known);

}  // namespace ferrox
