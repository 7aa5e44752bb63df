// IQ1_S: 256 weights a block in eight sub-blocks of 32, each four grid entries of eight ternary digits, shifted by an
// eighth up or down.
//   | d: f16 | index low[32]: u8 | 8 x (index high 4 x 3 bits, scale 3 bits, down 1 bit: u16) |
//   weight = d / 8 * (2 * scale + 1) * (8 * digit +- 1), digits -1, 0, 1
#include "tensor/decode_codes.h"
#include "tensor/iq1_codes.h"

namespace ferrox {
namespace {

struct iq1_s {
  static constexpr const char* kName = "IQ1_S";
  static constexpr DType kType = DType::kIQ1_S;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 50;
  static void decode(const uint8_t* block, float* out) { decode_integer<iq1_s>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = kIq1Zero;
  static constexpr int kMaxCode = 18;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block) * 0.125f;
    uint64_t entry[32];
    uint64_t down[32];
    for (int i = 0; i < 8; ++i) {
      const uint32_t high = load_u16(block + 34 + 2 * i);
      scales.scale[i] = static_cast<int16_t>(2 * (high >> 12 & 7) + 1);
      for (int k = 0; k < 4; ++k) {
        entry[4 * i + k] = kIq1Grid[block[2 + 4 * i + k] | (high >> 3 * k & 7) << 8];
        down[4 * i + k] = high >> 15;
      }
    }
    for (int i = 0; i < 32; ++i) store_iq1(entry[i], down[i], codes + 8 * i);
  }
};

}  // namespace
}  // namespace ferrox
