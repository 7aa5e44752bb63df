// IQ3_S: 256 weights a block in eight sub-blocks of 32, each eight grid entries of four magnitudes.
//   | d: f16 | index low[64]: u8 | index high: 64 bits | signs[32]: u8 | scales: 8 x 4 bits |
//   weight = d * (2 * scale + 1) * +-magnitude
#include "tensor/decode_codes.h"
#include "tensor/grid_codes.h"
#include "tensor/tables/iq3_s_grid.inl"

namespace ferrox {
namespace {

struct iq3_s {
  static constexpr const char* kName = "IQ3_S";
  static constexpr DType kType = DType::kIQ3_S;
  static constexpr int kBlock = 256;
  static constexpr int kBytes = 110;
  static void decode(const uint8_t* block, float* out) { decode_integer<iq3_s>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kInteger;
  static constexpr int kSub = 32;
  static constexpr int kZero = 16;
  static constexpr int kMaxCode = 31;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, IntegerScales& scales) {
    scales.d = load_f16(block);
    for (int i = 0; i < 8; ++i) {
      scales.scale[i] = static_cast<int16_t>(2 * (block[106 + i / 2] >> 4 * (i & 1) & 15) + 1);
    }
    GridRuns runs;
    for (int i = 0; i < 32; ++i) {
      const int high = block[66 + i / 4] >> 2 * (i & 3);
      const uint64_t first = kIq3SGrid[block[2 + 2 * i] | (high & 1) << 8];
      const uint64_t second = kIq3SGrid[block[3 + 2 * i] | (high >> 1 & 1) << 8];
      runs.entry[i] = first | second << 16;
      runs.signs[i] = block[74 + i];
    }
    for (int i = 0; i < 32; ++i) {  // steps 0 to 7 stand for 1, 3 to 15
      store_signed((spread_nibbles(runs.entry[i]) << 1) + kEachByte, runs.signs[i], kZero, codes + 8 * i);
    }
  }
};

}  // namespace
}  // namespace ferrox
