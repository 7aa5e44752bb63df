// Which codes does an entry of the IQ1 grid stand for?
// Included by every ISA's kernels: unnamed namespace, no standard library.
#pragma once

#include "tensor/grid_codes.h"
#include "tensor/tables/iq1_grid.inl"

namespace ferrox {
namespace {

constexpr int kIq1Zero = 9;  // the least value is 8 * -1 - 1

/// Eight codes kIq1Zero + 8 * digit + 1 of a grid entry, or - 1 where `down` is 1.
inline void store_iq1(uint64_t entry, uint64_t down, uint8_t* codes) {
  const uint64_t shift = (kEachByte << 1) & (down - 1);  // twos, or nothing
  store_u64((spread_bit_pairs(entry) << 3) + shift, codes);
}

}  // namespace
}  // namespace ferrox
