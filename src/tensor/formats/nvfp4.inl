// NVFP4: 64 weights a block in four sub-blocks of 16, E2M1 floats with an unsigned E4M3 scale; byte i of a sub-block
// holds its weights i (low) and 8 + i (high).
//   | scale[4]: u8 | nibbles[4][8] |      weight = scale / 2 * twice the E2M1 value
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"
#include "tensor/tables/fp4_values.inl"

namespace ferrox {
namespace {

struct nvfp4 {
  static constexpr const char* kName = "NVFP4";
  static constexpr DType kType = DType::kNVFP4;
  static constexpr int kBlock = 64;
  static constexpr int kBytes = 36;
  static void decode(const uint8_t* block, float* out) { decode_real<nvfp4>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 16;
  static constexpr int kZero = kFp4Zero;
  static constexpr int kMaxCode = 24;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    for (int i = 0; i < 4; ++i) {
      scales.scale[i] = half_scale_of(block[i]);
      const uint64_t nibbles = load_u64(block + 4 + 8 * i);
      look_up_16(kFp4Codes, nibbles & kLowNibbles, nibbles >> 4 & kLowNibbles, codes + 16 * i);
    }
  }

  // Half of an E4M3 number with exponent bias 7; 0x7f, its NaN, counts as zero.
  static float half_scale_of(uint8_t e4m3) {
    if (e4m3 == 0x7f) return 0.0f;
    const uint32_t exponent = e4m3 >> 3 & 15;
    const uint32_t mantissa = e4m3 & 7;
    if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
    return __builtin_bit_cast(float, (exponent + 127 - 7 - 1) << 23 | mantissa << 20);
  }
};

}  // namespace
}  // namespace ferrox
