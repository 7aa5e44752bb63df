// Q6_K: 256 weights a block in sixteen sub-blocks of 16. In each half, low[i] holds the low bits of weights i and
// 64 + i, low[32 + i] those of 32 + i and 96 + i; high[i] the upper bits of i, 32 + i, 64 + i, 96 + i.
//   | low[2][64]: 2 x 4 bits | high[2][32]: 4 x 2 bits | scale[16]: i8 | d: f16 |
//   weight = d * scale * (code - 32)
#include "tensor/decode_codes.h"

namespace ferrox {
namespace {

struct q6_K {
  static constexpr const char* kName = "Q6_K";
  static constexpr DType kType = DType::kQ6_K;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 210;
  static void decode(const uint8_t* block, float* out) { decode_integer<q6_K>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 16;
  static constexpr int kZero = 32;
  static constexpr int kMaxCode = 63;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block + 208);
    for (int i = 0; i < 16; ++i) scales.scale[i] = static_cast<int8_t>(block[192 + i]);
    for (int half = 0; half < 2; ++half) {
      const uint8_t* low = block + 64 * half;
      const uint8_t* high = block + 128 + 32 * half;
      uint8_t* out = codes + 128 * half;
      for (int i = 0; i < 32; ++i) {
        out[i] = static_cast<uint8_t>((low[i] & 15) | (high[i] & 3) << 4);
        out[32 + i] = static_cast<uint8_t>((low[32 + i] & 15) | (high[i] >> 2 & 3) << 4);
        out[64 + i] = static_cast<uint8_t>(low[i] >> 4 | (high[i] >> 4 & 3) << 4);
        out[96 + i] = static_cast<uint8_t>(low[32 + i] >> 4 | high[i] >> 6 << 4);
      }
    }
  }
};

}  // namespace
}  // namespace ferrox
