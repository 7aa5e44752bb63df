// Q4_1: 32 weights a block; byte i holds weights i (low) and 16 + i (high).
//   | d: f16 | m: f16 | nibbles[16] |      weight = d * nibble + m
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct q4_1 {
  static constexpr const char* kName = "Q4_1";
  static constexpr DType kType = DType::kQ4_1;
  static constexpr int kBlock = 32;
  static constexpr int kBytes = 20;
  static void decode(const uint8_t* block, float* out) { decode_real<q4_1>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = 0;
  static constexpr int kMaxCode = 15;
  static constexpr bool kHasMin = true;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = load_f16(block);
    scales.min[0] = -load_f16(block + 2);
    split_nibbles(block + 4, 16, codes);
  }
};

}  // namespace
}  // namespace ferrox
