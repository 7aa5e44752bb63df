// Q4_0: 32 weights a block; byte i holds weights i (low) and 16 + i (high).
//   | d: f16 | nibbles[16] |      weight = d * (nibble - 8)
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct q4_0 {
  static constexpr const char* kName = "Q4_0";
  static constexpr DType kType = DType::kQ4_0;
  static constexpr int kBlock = 32;
  static constexpr int kBytes = 18;
  static void decode(const uint8_t* block, float* out) { decode_real<q4_0>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = 8;
  static constexpr int kMaxCode = 15;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = load_f16(block);
    split_nibbles(block + 2, 16, codes);
  }
};

}  // namespace
}  // namespace ferrox
