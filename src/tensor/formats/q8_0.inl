// Q8_0: 32 weights a block.
//   | d: f16 | code[32]: i8 |      weight = d * code
#include "tensor/decode_codes.h"

namespace ferrox {
namespace {

struct q8_0 {
  static constexpr const char* kName = "Q8_0";
  static constexpr DType kType = DType::kQ8_0;
  static constexpr int kBlock = 32;
  static constexpr int kBytes = 34;
  static void decode(const uint8_t* block, float* out) { decode_real<q8_0>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = 128;
  static constexpr int kMaxCode = 255;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = load_f16(block);
    for (int i = 0; i < 32; ++i) codes[i] = block[2 + i] ^ 0x80;
  }
};

}  // namespace
}  // namespace ferrox
