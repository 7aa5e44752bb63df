// IQ3_XXS: 256 weights a block in eight sub-blocks of 32, each eight grid entries of four magnitudes.
//   | d: f16 | grid index[64]: u8 | 8 x (signs 4 x 7 bits, scale 4 bits: u32) |
//   weight = d / 4 * (2 * scale + 1) * +-magnitude
#include "tensor/decode_codes.h"
#include "tensor/grid_codes.h"
#include "tensor/tables/iq3_xxs_grid.inl"

namespace ferrox {
namespace {

struct iq3_xxs {
  static constexpr const char* kName = "IQ3_XXS";
  static constexpr DType kType = DType::kIQ3_XXS;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 98;
  static void decode(const uint8_t* block, float* out) { decode_integer<iq3_xxs>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = 64;
  static constexpr int kMaxCode = 126;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block) * 0.25f;
    GridRuns runs;
    for (int i = 0; i < 8; ++i) {
      const uint8_t* index = block + 2 + 8 * i;
      const uint32_t signs = load_u32(block + 66 + 4 * i);
      scales.scale[i] = static_cast<int16_t>(2 * (signs >> 28) + 1);
      for (int k = 0; k < 4; ++k) {
        runs.entry[4 * i + k] = kIq3XxsGrid[index[2 * k]] | uint64_t{kIq3XxsGrid[index[2 * k + 1]]} << 16;
        runs.signs[4 * i + k] = signs >> 7 * k & 127;
      }
    }
    for (int i = 0; i < 32; ++i) {
      store_signed(magnitudes(spread_nibbles(runs.entry[i])), even_signs(runs.signs[i]), kZero, codes + 8 * i);
    }
  }

  // Steps 0 to 7 stand for 4, 12, 20 and so on in eights, but the last for 62 instead of 60.
  static uint64_t magnitudes(uint64_t steps) {
    const uint64_t last = (steps + kEachByte) >> 3 & kEachByte;
    return (steps << 3) + 4 * kEachByte + (last << 1);
  }
};

}  // namespace
}  // namespace ferrox
