// Which codes does an entry of the IQ1 grid stand for?
// Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include "tensor/grid_codes.h"
#include "tensor/tables/iq1_grid.inl"

namespace ferrox {
namespace {

constexpr int kIq1Zero = 9;  // the least value is 8 * -1 - 1

/// Eight codes kIq1Zero + 8 * digit + 1, or - 1 where `down` is 1.
inline void store_iq1(uint32_t index, uint32_t down, uint8_t* codes) {
  const uint64_t digits = spread_2_bits(kIq1Grid[index]);  // 0, 1, 2 for -1, 0, 1
  const uint64_t word = (digits << 3) + (2 - 2 * static_cast<uint64_t>(down)) * kEachByte;
  __builtin_memcpy(codes, &word, sizeof word);
}

}  // namespace
}  // namespace ferrox
