// TQ2_0: 256 ternary weights a block, two bits each. Byte i of a half holds weights i, 32 + i, 64 + i, 96 + i of that
// half, the first lowest.
//   | codes[2][32]: 4 x 2 bits | d: f16 |      weight = d * (code - 1)
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct tq2_0 {
  static constexpr const char* kName = "TQ2_0";
  static constexpr DType kType = DType::kTQ2_0;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 66;
  static void decode(const uint8_t* block, float* out) { decode_integer<tq2_0>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = 1;
  static constexpr int kMaxCode = 3;  // no encoder writes it, and a file may hold it
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block + 64);
    for (int i = 0; i < 8; ++i) scales.scale[i] = 1;
    for (int half = 0; half < 2; ++half) split_bit_pairs(block + 32 * half, codes + 128 * half);
  }
};

}  // namespace
}  // namespace ferrox
