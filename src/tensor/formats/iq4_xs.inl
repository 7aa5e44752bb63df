// IQ4_XS: 256 weights a block in eight sub-blocks of 32, each coded as IQ4_NL is, with a 6-bit scale.
//   | d: f16 | scale high: 8 x 2 bits | scale low: 8 x 4 bits | nibbles[8][16] |
//   weight = d * (scale - 32) * step[nibble]
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"
#include "tensor/tables/iq4_steps.inl"

namespace ferrox {
namespace {

struct iq4_xs {
  static constexpr const char* kName = "IQ4_XS";
  static constexpr DType kType = DType::kIQ4_XS;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 136;
  static void decode(const uint8_t* block, float* out) { decode_integer<iq4_xs>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = kIq4Zero;
  static constexpr int kMaxCode = 241;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block);
    const int high = load_u16(block + 2);
    const uint32_t low = load_u32(block + 4);
    for (int i = 0; i < 8; ++i) {
      const int scale = static_cast<int>(low >> 4 * i & 15) | (high >> 2 * i & 3) << 4;
      scales.scale[i] = static_cast<int16_t>(scale - 32);
      look_up_nibbles(kIq4Codes, block + 8 + 16 * i, codes + 32 * i);
    }
  }
};

}  // namespace
}  // namespace ferrox
