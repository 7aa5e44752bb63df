// IQ1_M: 256 weights a block in sixteen sub-blocks of 16, each two grid entries of eight ternary digits, each entry
// shifted by an eighth up or down. The four words of scales carry d, an f16, in their upper four bits.
//   | index low[32]: u8 | 32 x (index high 3 bits, down 1 bit) | scales[4]: 4 x 3 bits, 4 bits of d |
//   weight = d / 8 * (2 * scale + 1) * (8 * digit +- 1), digits -1, 0, 1
#include "tensor/decode_codes.h"
#include "tensor/iq1_codes.h"

namespace ferrox {
namespace {

struct iq1_m {
  static constexpr const char* kName = "IQ1_M";
  static constexpr DType kType = DType::kIQ1_M;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 56;
  static void decode(const uint8_t* block, float* out) { decode_integer<iq1_m>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 16;
  static constexpr int kZero = kIq1Zero;
  static constexpr int kMaxCode = 18;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    uint8_t d[2] = {};
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = load_u16(block + 48 + 2 * i);
      d[i / 2] |= static_cast<uint8_t>(word >> 12 << 4 * (i & 1));
      for (int k = 0; k < 4; ++k) scales.scale[4 * i + k] = static_cast<int16_t>(2 * (word >> 3 * k & 7) + 1);
    }
    scales.d = load_f16(d) * 0.125f;
    uint64_t entry[32];
    uint64_t down[32];
    for (int i = 0; i < 32; ++i) {
      const uint32_t high = block[32 + i / 2] >> 4 * (i & 1);
      entry[i] = kIq1Grid[block[i] | (high & 7) << 8];
      down[i] = high >> 3 & 1;
    }
    for (int i = 0; i < 32; ++i) store_iq1(entry[i], down[i], codes + 8 * i);
  }
};

}  // namespace
}  // namespace ferrox
