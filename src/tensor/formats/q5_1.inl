// Q5_1: 32 weights a block; the low four bits as in Q4_1, the fifth of weight i is bit i of a word.
//   | d: f16 | m: f16 | fifth bits: u32 | nibbles[16] |      weight = d * code + m
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct q5_1 {
  static constexpr const char* kName = "Q5_1";
  static constexpr DType kType = DType::kQ5_1;
  static constexpr int kBlock = 32;
  static constexpr int kBytes = 24;
  static void decode(const uint8_t* block, float* out) { decode_real<q5_1>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = 0;
  static constexpr int kMaxCode = 31;
  static constexpr bool kHasMin = true;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = load_f16(block);
    scales.min[0] = -load_f16(block + 2);
    split_five_bits(block + 8, load_u32(block + 4), codes);
  }
};

}  // namespace
}  // namespace ferrox
