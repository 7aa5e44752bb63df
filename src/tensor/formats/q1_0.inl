// Q1_0: 128 weights a block, a bit each, the first lowest.
//   | d: f16 | bits[16] |      weight = d where the bit is set, otherwise -d
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"

namespace ferrox {
namespace {

struct q1_0 {
  static constexpr const char* kName = "Q1_0";
  static constexpr DType kType = DType::kQ1_0;
  static constexpr int kBlock = 128;
  static constexpr int kBytes = 18;
  static void decode(const uint8_t* block, float* out) { decode_real<q1_0>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = 1;
  static constexpr int kMaxCode = 2;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    const float d = load_f16(block);
    for (int i = 0; i < 4; ++i) scales.scale[i] = d;
    for (int i = 0; i < 16; ++i) store_u64(spread_bits(block[2 + i]) & kEachByte << 1, codes + 8 * i);
  }
};

}  // namespace
}  // namespace ferrox
