// Q2_K: 256 weights a block in sixteen sub-blocks of 16. Byte i of a half holds weights i, 32 + i, 64 + i, 96 + i of
// that half, the first lowest.
//   | scales[16]: scale low, min high nibble | codes[2][32]: 4 x 2 bits | d: f16 | dmin: f16 |
//   weight = d * scale * code - dmin * min
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct q2_K {
  static constexpr const char* kName = "Q2_K";
  static constexpr DType kType = DType::kQ2_K;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 84;
  static void decode(const uint8_t* block, float* out) { decode_integer<q2_K>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 16;
  static constexpr int kZero = 0;
  static constexpr int kMaxCode = 3;
  static constexpr bool kHasMin = true;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block + 80);
    scales.dmin = load_f16(block + 82);
    for (int i = 0; i < 16; ++i) {
      scales.scale[i] = block[i] & 15;
      scales.min[i] = block[i] >> 4;
    }
    for (int half = 0; half < 2; ++half) split_bit_pairs(block + 16 + 32 * half, codes + 128 * half);
  }
};

}  // namespace
}  // namespace ferrox
