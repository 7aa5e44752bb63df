// IQ4_NL: 32 weights a block; byte i holds weights i (low) and 16 + i (high), each an index into 16 uneven steps.
//   | d: f16 | nibbles[16] |      weight = d * step[nibble]
#include "tensor/decode_codes.h"
#include "tensor/packed_codes.h"
#include "tensor/tables/iq4_steps.inl"

namespace ferrox {
namespace {

struct iq4_nl {
  static constexpr const char* kName = "IQ4_NL";
  static constexpr DType kType = DType::kIQ4_NL;
  static constexpr int kBlock = 32;
  static constexpr int kBytes = 18;
  static void decode(const uint8_t* block, float* out) { decode_real<iq4_nl>(block, out); }

  static constexpr ScaleKind kScale = ScaleKind::kReal;
  static constexpr int kSub = 32;
  static constexpr int kZero = kIq4Zero;
  static constexpr int kMaxCode = 241;
  static constexpr bool kHasMin = false;
  static void unpack(const uint8_t* __restrict block, uint8_t* __restrict codes, RealScales& scales) {
    scales.scale[0] = load_f16(block);
    look_up_nibbles(kIq4Codes, block + 2, codes);
  }
};

}  // namespace
}  // namespace ferrox
