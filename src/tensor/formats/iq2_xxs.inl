// IQ2_XXS: 256 weights a block in eight sub-blocks of 32, each four grid entries of eight magnitudes.
//   | d: f16 | 8 x (grid index[4]: u8 | signs 4 x 7 bits, scale 4 bits: u32) |
//   weight = d / 8 * (2 * scale + 1) * +-magnitude
#include "tensor/decode_codes.h"
#include "tensor/iq2_magnitudes.h"
#include "tensor/tables/iq2_xxs_grid.inl"

namespace ferrox {
namespace {

struct iq2_xxs {
  static constexpr const char* kName = "IQ2_XXS";
  static constexpr DType kType = DType::kIQ2_XXS;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 66;
  static void decode(const uint8_t* block, float* out) { decode_integer<iq2_xxs>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = 64;
  static constexpr int kMaxCode = 107;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block) * 0.125f;
    GridRuns runs;
    for (int i = 0; i < 8; ++i) {
      const uint8_t* index = block + 2 + 8 * i;
      const uint32_t signs = load_u32(index + 4);
      scales.scale[i] = static_cast<int16_t>(2 * (signs >> 28) + 1);
      for (int k = 0; k < 4; ++k) {
        runs.entry[4 * i + k] = kIq2XxsGrid[index[k]];
        runs.signs[4 * i + k] = signs >> 7 * k & 127;
      }
    }
    for (int i = 0; i < 32; ++i) {
      store_signed(iq2_magnitudes(runs.entry[i]), even_signs(runs.signs[i]), kZero, codes + 8 * i);
    }
  }
};

}  // namespace
}  // namespace ferrox
