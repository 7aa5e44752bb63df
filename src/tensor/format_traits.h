// What must a file in tensor/formats/ say? The words its struct is written in; included by every ISA's kernels, so
// everything here is in an unnamed namespace and none of it is from the standard library's inline templates.
//
//   struct q4_0 {                                   // the file's name, which is also the registry's
//     static constexpr const char* kName = "Q4_0";
//     static constexpr DType kType = DType::kQ4_0;
//     static constexpr int kBlock = 32;             // weights a block holds
//     static constexpr int kBytes = 18;             // bytes a block takes
//     static void decode(const uint8_t* block, float* out);   // exact: the format's own order of operations
//
//     // How the product sees it: weight = scale * (code - kZero) - min, codes unsigned bytes.
//     static constexpr ScaleKind kScale = ScaleKind::kReal;
//     static constexpr int kSub = 32;               // weights that share a scale (and a min): 16 or 32
//     static constexpr int kZero = 8;
//     static constexpr int kMaxCode = 15;           // no code is above it
//     static constexpr bool kHasMin = false;
//     static void unpack(const uint8_t* block, uint8_t* codes, RealScales& scales);
//   };
//
// ScaleKind::kReal: unpack fills scales.scale[i] (and scales.min[i] if kHasMin) for the kBlock / kSub sub-blocks.
// ScaleKind::kInteger (blocks of 256 only): scale = d * scale[i], min = dmin * min[i] with small integers.
// ScaleKind::kFloat: no codes; `static float to_float(const uint8_t*)` decodes one element of kBytes.
#pragma once

#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "base/half.h"
#include "tensor/dtype.h"

namespace ferrox {
namespace {

enum class ScaleKind { kFloat, kReal, kInteger };

/// Scales of one block, one per sub-block; at most 256 / 16 of them.
struct RealScales {
  float scale[16];
  float min[16];
};

/// Scales of one block of 256 weights: weight = d * scale[i] * (code - kZero) - dmin * min[i].
/// |scale| <= 128 and 0 <= min <= 127, so that a block's integer sum fits 32 bits.
struct IntegerScales {
  float d;
  float dmin;
  int16_t scale[16];
  int16_t min[16];
};

inline uint16_t load_u16(const uint8_t* p) {
  uint16_t value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

inline uint32_t load_u32(const uint8_t* p) {
  uint32_t value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

inline float load_f32(const uint8_t* p) {
  float value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

/// The F16 number at p, as a float; by the CPU's own instruction where the ISA has one (same value either way).
inline float load_f16(const uint8_t* p) {
#if defined(__F16C__)
  return _cvtsh_ss(load_u16(p));
#else
  return half_to_float(load_u16(p));
#endif
}

}  // namespace
}  // namespace ferrox
