// Q4_K: 256 weights a block in eight sub-blocks of 32; byte i of a quarter holds weights i (low) and 32 + i (high).
//   | d: f16 | dmin: f16 | scales and mins: 8 x 2 x 6 bits | nibbles[4][32] |
//   weight = d * scale * nibble - dmin * min
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"
#include "tensor/six_bit_scales.h"

namespace ferrox {
namespace {

struct q4_K {
  static constexpr const char* kName = "Q4_K";
  static constexpr DType kType = DType::kQ4_K;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 144;
  static void decode(const uint8_t* block, float* out) { decode_integer<q4_K>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = 0;
  static constexpr int kMaxCode = 15;
  static constexpr bool kHasMin = true;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block);
    scales.dmin = load_f16(block + 2);
    unpack_six_bit_scales(block + 4, scales);
    for (int quarter = 0; quarter < 4; ++quarter) split_nibbles(block + 16 + 32 * quarter, 32, codes + 64 * quarter);
  }
};

}  // namespace
}  // namespace ferrox
