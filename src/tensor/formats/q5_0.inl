// Q5_0: 32 weights a block; the low four bits as in Q4_0, the fifth of weight i is bit i of a word.
//   | d: f16 | fifth bits: u32 | nibbles[16] |      weight = d * (code - 16)
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct q5_0 {
  static constexpr const char* kName = "Q5_0";
  static constexpr DType kType = DType::kQ5_0;
  static constexpr int kBlock = 32;
  static constexpr int kBytes = 22;
  static void decode(const uint8_t* block, float* out) { decode_real<q5_0>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = 16;
  static constexpr int kMaxCode = 31;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = load_f16(block);
    split_five_bits(block + 6, load_u32(block + 2), codes);
  }
};

}  // namespace
}  // namespace ferrox
