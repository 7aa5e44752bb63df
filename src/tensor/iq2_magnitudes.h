// Which magnitudes does an entry of the IQ2 grids stand for?
// Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include "tensor/grid_codes.h"

namespace ferrox {
namespace {

/// Eight bytes 8, 25 or 43 from eight 2-bit steps 0, 1, 2: in seventeens, and one more for the last.
inline uint64_t iq2_magnitudes(uint64_t entry) {
  const uint64_t steps = spread_bit_pairs(entry);
  return steps + (steps << 4) + 8 * kEachByte + (steps >> 1 & kEachByte);
}

}  // namespace
}  // namespace ferrox
