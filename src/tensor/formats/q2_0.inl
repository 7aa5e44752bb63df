// Q2_0: 64 weights a block, two bits each, the first lowest.
//   | d: f16 | codes[16]: 4 x 2 bits |      weight = d * (code - 1)
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct q2_0 {
  static constexpr const char* kName = "Q2_0";
  static constexpr DType kType = DType::kQ2_0;
  static constexpr int kBlock = 64;
  static constexpr int kBytes = 18;
  static void decode(const uint8_t* block, float* out) { decode_real<q2_0>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = 1;
  static constexpr int kMaxCode = 3;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = scales.scale[1] = load_f16(block);
    for (int i = 0; i < 8; ++i) store_u64(spread_bit_pairs(load_u16(block + 2 + 2 * i)), codes + 8 * i);
  }
};

}  // namespace
}  // namespace ferrox
