// How long is a prompt? A number, or anything from one number to another.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "loadgen/random.h"

namespace ferrox {

struct SizeRange {
  size_t lowest = 1;
  size_t highest = 1;  ///< included

  size_t draw(LoadRandom& random) const { return lowest + random.below(highest - lowest + 1); }
};

/// The most that a range may name.
inline constexpr size_t kMostRangeSize = 10'000'000;

/// "512" or "128:1024". kInvalidArgument, naming `where` (the flag): anything else, 0, more than kMostRangeSize, a
/// range that ends before it begins.
Result<SizeRange> parse_size_range(std::string_view where, std::string_view text);

}  // namespace ferrox
