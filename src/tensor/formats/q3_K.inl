// Q3_K: 256 weights a block in sixteen sub-blocks of 16. The low two bits lie as in Q2_K; the third of weight
// 32 * k + i is bit k of third[i].
//   | third[32] | codes[2][32]: 4 x 2 bits | scale low: 8 low nibbles, 8 high | scale high[4]: 4 x 2 bits | d: f16 |
//   weight = d * (scale - 32) * (code - 4)
#include "tensor/decode_codes.h"

namespace ferrox {
namespace {

struct q3_K {
  static constexpr const char* kName = "Q3_K";
  static constexpr DType kType = DType::kQ3_K;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 110;
  static void decode(const uint8_t* block, float* out) { decode_integer<q3_K>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 16;
  static constexpr int kZero = 4;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block + 108);
    const uint8_t* scale_bits = block + 96;
    for (int i = 0; i < 16; ++i) {
      const int low = scale_bits[i & 7] >> 4 * (i >> 3) & 15;
      const int high = scale_bits[8 + (i & 3)] >> 2 * (i >> 2) & 3;
      scales.scale[i] = static_cast<int16_t>((low | high << 4) - 32);
    }
    for (int k = 0; k < 8; ++k) {
      const uint8_t* packed = block + 32 + 32 * (k >> 2);
      uint8_t* out = codes + 32 * k;
      for (int i = 0; i < 32; ++i) {
        out[i] = static_cast<uint8_t>((packed[i] >> 2 * (k & 3) & 3) | (block[i] >> k & 1) << 2);
      }
    }
  }
};

}  // namespace
}  // namespace ferrox
