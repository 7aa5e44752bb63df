// MXFP4: 32 weights a block, E2M1 floats; byte i holds weights i (low) and 16 + i (high).
//   | exponent: u8 | nibbles[16] |      weight = 2^(exponent - 128) * twice the E2M1 value
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"
#include "tensor/tables/fp4_values.inl"

namespace ferrox {
namespace {

struct mxfp4 {
  static constexpr const char* kName = "MXFP4";
  static constexpr DType kType = DType::kMXFP4;
  static constexpr int kBlock = 32;
  static constexpr int kBytes = 17;
  static void decode(const uint8_t* block, float* out) { decode_real<mxfp4>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = kFp4Zero;
  static constexpr int kMaxCode = 24;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = scale_of(block[0]);
    look_up_nibbles(kFp4Codes, block + 1, codes);
  }

  // 2^(exponent - 128); the two smallest are subnormal floats.
  static float scale_of(uint8_t exponent) {
    const uint32_t bits = exponent < 2 ? 0x00200000u << exponent : (exponent - 1u) << 23;
    return __builtin_bit_cast(float, bits);
  }
};

}  // namespace
}  // namespace ferrox
