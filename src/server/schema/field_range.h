// Which numbers, and how long a text, does a field take?
#pragma once

#include <cstdint>
#include <limits>

namespace ferrox {

/// 2^53: up to here doubles, and so the numbers of every client, hold integers exactly.
inline constexpr double kMostExact = 9007199254740992.0;

/// Inclusive bounds of a number, of a string's bytes, or of an array's entries. They lie within kMostExact.
struct FieldRange {
  double min = 0;
  double max = std::numeric_limits<int32_t>::max();
};

inline constexpr FieldRange kUnit{0, 1};
inline constexpr FieldRange kCount{0, std::numeric_limits<int32_t>::max()};
inline constexpr FieldRange kCountOrAll{-1, std::numeric_limits<int32_t>::max()};

}  // namespace ferrox
