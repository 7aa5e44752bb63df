// IQ2_S: 256 weights a block in sixteen sub-blocks of 16, each two grid entries of eight magnitudes.
//   | d: f16 | index low[32]: u8 | signs[32]: u8 | index high: 32 x 2 bits | scales: 16 x 4 bits |
//   weight = d / 8 * (2 * scale + 1) * +-magnitude
#include "tensor/decode_codes.h"
#include "tensor/iq2_magnitudes.h"
#include "tensor/tables/iq2_s_grid.inl"

namespace ferrox {
namespace {

struct iq2_s {
  static constexpr const char* kName = "IQ2_S";
  static constexpr DType kType = DType::kIQ2_S;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 82;
  static void decode(const uint8_t* block, float* out) { decode_integer<iq2_s>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 16;
  static constexpr int kZero = 64;
  static constexpr int kMaxCode = 107;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block) * 0.125f;
    for (int i = 0; i < 16; ++i) {
      scales.scale[i] = static_cast<int16_t>(2 * (block[74 + i / 2] >> 4 * (i & 1) & 15) + 1);
    }
    GridRuns runs;
    for (int i = 0; i < 32; ++i) {
      runs.entry[i] = kIq2SGrid[block[2 + i] | (block[66 + i / 4] >> 2 * (i & 3) & 3) << 8];
      runs.signs[i] = block[34 + i];
    }
    for (int i = 0; i < 32; ++i) {
      store_signed(iq2_magnitudes(runs.entry[i]), runs.signs[i], kZero, codes + 8 * i);
    }
  }
};

}  // namespace
}  // namespace ferrox
