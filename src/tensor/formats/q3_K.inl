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
  static constexpr int kMaxCode = 7;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block + 108);
    const uint8_t* scale_bits = block + 96;
    for (int i = 0; i < 16; ++i) {
      const int low = scale_bits[i & 7] >> 4 * (i >> 3) & 15;
      const int high = scale_bits[8 + (i & 3)] >> 2 * (i >> 2) & 3;
      scales.scale[i] = static_cast<int16_t>((low | high << 4) - 32);
    }
    for (int half = 0; half < 2; ++half) {
      const uint8_t* packed = block + 32 + 32 * half;
      uint8_t* out = codes + 128 * half;
      for (int i = 0; i < 32; ++i) {
        const int third = block[i] >> 4 * half;
        out[i] = static_cast<uint8_t>((packed[i] & 3) | (third & 1) << 2);
        out[32 + i] = static_cast<uint8_t>((packed[i] >> 2 & 3) | (third & 2) << 1);
        out[64 + i] = static_cast<uint8_t>((packed[i] >> 4 & 3) | (third & 4));
        out[96 + i] = static_cast<uint8_t>(packed[i] >> 6 | (third & 8) >> 1);
      }
    }
  }
};

}  // namespace
}  // namespace ferrox
