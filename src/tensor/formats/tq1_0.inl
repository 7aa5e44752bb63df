// TQ1_0: 256 ternary weights a block, five base-3 digits a byte, the first most significant, stored as a fraction of
// 256: multiplying by 3 brings the next digit out at the top. Digit n of the bytes of a run stands at n * run length.
//   | digits[32]: 5 | digits[16]: 5 | digits[4]: 4 | d: f16 |      weight = d * (digit - 1)
#include "tensor/decode_codes.h"

namespace ferrox {
namespace {

struct tq1_0 {
  static constexpr const char* kName = "TQ1_0";
  static constexpr DType kType = DType::kTQ1_0;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 54;
  static void decode(const uint8_t* block, float* out) { decode_integer<tq1_0>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = 1;
  static constexpr int kMaxCode = 2;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block + 52);
    for (int i = 0; i < 8; ++i) scales.scale[i] = 1;
    unpack_run(block, 32, 5, codes);
    unpack_run(block + 32, 16, 5, codes + 160);
    unpack_run(block + 48, 4, 4, codes + 240);
  }

  static void unpack_run(const uint8_t* __restrict packed, int n, int n_digits, uint8_t* __restrict codes) {
    uint8_t power = 1;  // 3^digit
    for (int digit = 0; digit < n_digits; ++digit, power = static_cast<uint8_t>(power * 3)) {
      for (int i = 0; i < n; ++i) {
        const auto fraction = static_cast<uint8_t>(packed[i] * power);
        codes[n * digit + i] = static_cast<uint8_t>(fraction * 3 >> 8);
      }
    }
  }
};

}  // namespace
}  // namespace ferrox
