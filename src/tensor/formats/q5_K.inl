// Q5_K: 256 weights a block in eight sub-blocks of 32. The low four bits lie as in Q4_K; the fifth of weight
// 32 * k + i is bit k of fifth[i].
//   | d: f16 | dmin: f16 | scales and mins: 8 x 2 x 6 bits | fifth[32] | nibbles[4][32] |
//   weight = d * scale * code - dmin * min
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"
#include "tensor/six_bit_scales.h"

namespace ferrox {
namespace {

struct q5_K {
  static constexpr const char* kName = "Q5_K";
  static constexpr DType kType = DType::kQ5_K;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 176;
  static void decode(const uint8_t* block, float* out) { decode_integer<q5_K>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = 0;
  static constexpr int kMaxCode = 31;
  static constexpr bool kHasMin = true;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block);
    scales.dmin = load_f16(block + 2);
    unpack_six_bit_scales(block + 4, scales);
    const uint8_t* fifth = block + 16;
    for (int quarter = 0; quarter < 4; ++quarter) {
      const uint8_t* packed = block + 48 + 32 * quarter;
      uint8_t* out = codes + 64 * quarter;
      for (int i = 0; i < 32; ++i) {
        out[i] = static_cast<uint8_t>((packed[i] & 15) | (fifth[i] >> 2 * quarter & 1) << 4);
        out[32 + i] = static_cast<uint8_t>(packed[i] >> 4 | (fifth[i] >> (2 * quarter + 1) & 1) << 4);
      }
    }
  }
};

}  // namespace
}  // namespace ferrox
