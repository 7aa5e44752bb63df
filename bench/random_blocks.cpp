#include "bench/random_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/half.h"

namespace ferrox::bench {
namespace {

/// Where a block's F16 scales are, and what they stand for.
struct ScaleLayout {
  DType dtype;
  int scale_offset;
  float largest;        ///< weight that a scale of 1 allows
  int min_offset = -1;  ///< of the minimum's own scale; -1: none
  float min_factor =
      0;  ///< that scale in units of the other: what the mean code is then worth, so that weights have mean 0
};

const std::vector<ScaleLayout>& scale_layouts() {
  static const std::vector<ScaleLayout> layouts = {
      {DType::kQ4_0, 0, 8},
      {DType::kQ4_1, 0, 7.5f, 2, -7.5f},
      {DType::kQ5_0, 0, 16},
      {DType::kQ5_1, 0, 15.5f, 2, -15.5f},
      {DType::kQ8_0, 0, 128},
      {DType::kQ2_K, 80, 1.5f * 15, 82, 1.5f},
      {DType::kQ3_K, 108, 4 * 32},
      {DType::kQ4_K, 0, 7.5f * 63, 2, 7.5f},
      {DType::kQ5_K, 0, 15.5f * 63, 2, 15.5f},
      {DType::kQ6_K, 208, 32 * 128},
      {DType::kIQ4_NL, 0, 127},
      {DType::kIQ4_XS, 0, 127 * 32},
      {DType::kIQ2_XXS, 0, 43 * 4},
      {DType::kIQ2_XS, 0, 43 * 4},
      {DType::kIQ2_S, 0, 43 * 4},
      {DType::kIQ3_XXS, 0, 62 * 8},
      {DType::kIQ3_S, 0, 15 * 31},
      {DType::kIQ1_S, 0, 17},
      {DType::kTQ1_0, 52, 1},
      {DType::kTQ2_0, 64, 1},
      {DType::kQ1_0, 0, 1},
      {DType::kQ2_0, 0, 2},
  };
  return layouts;
}

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void put_half(std::byte* block, int offset, float value) {
  const uint16_t half = float_to_half(value);
  std::memcpy(block + offset, &half, sizeof half);
}

float uniform(uint64_t& state, float magnitude) {
  return (static_cast<float>(next_random(state) >> 40) * 0x1p-23f - 1.0f) * magnitude;
}

void fill_floats(const FormatInfo& format, float magnitude, uint64_t state, std::span<std::byte> out) {
  for (size_t i = 0; i < out.size(); i += static_cast<size_t>(format.block_bytes)) {
    const float value = uniform(state, magnitude);
    const uint16_t bits = format.dtype == DType::kF16 ? float_to_half(value) : float_to_bf16(value);
    if (format.dtype == DType::kF32) {
      std::memcpy(out.data() + i, &value, sizeof value);
    } else {
      std::memcpy(out.data() + i, &bits, sizeof bits);
    }
  }
}

/// MXFP4: 2^(exponent - 128) times 0 .. 12.
void set_mxfp4_scales(float magnitude, std::span<std::byte> out) {
  const int exponent = 128 + static_cast<int>(std::lround(std::log2(magnitude / 12)));
  for (size_t i = 0; i < out.size(); i += 17) out[i] = static_cast<std::byte>(exponent);
}

/// NVFP4: subnormal E4M3 numbers, whose halves are multiples of 2^-10, times 0 .. 12.
void set_nvfp4_scales(float magnitude, std::span<std::byte> out) {
  const float steps = std::round(magnitude / 12 * 0x1p10f);
  const auto scale = static_cast<std::byte>(std::clamp(steps, 1.0f, 7.0f));
  for (size_t i = 0; i < out.size(); i += 36) std::fill_n(out.begin() + static_cast<ptrdiff_t>(i), 4, scale);
}

/// IQ1_M: the upper four bits of four words are one F16; its weights are at most 17 times that.
void set_iq1_m_scales(float magnitude, std::span<std::byte> out) {
  const uint16_t scale = float_to_half(magnitude / 17);
  for (size_t i = 0; i < out.size(); i += 56) {
    for (size_t word = 0; word < 4; ++word) {
      std::byte& upper = out[i + 48 + 2 * word + 1];
      upper = (upper & std::byte{0x0f}) | static_cast<std::byte>((scale >> 4 * word & 15) << 4);
    }
  }
}

/// Gives every sub-block's minimum the number of its scale: a minimum of its own would move all its weights one way.
void match_mins(DType dtype, std::byte* block) {
  if (dtype == DType::kQ2_K) {  // scale in the low nibble, minimum in the high one
    for (int i = 0; i < 16; ++i) block[i] = (block[i] & std::byte{15}) | block[i] << 4;
  }
  if (dtype == DType::kQ4_K || dtype == DType::kQ5_K) {  // see unpack_header
    std::memcpy(block + 8, block + 4, 4);
    for (int i = 12; i < 16; ++i) block[i] = (block[i] & std::byte{15}) | block[i] << 4;
  }
}

/// Formats whose scales aren't plain F16 numbers; false for the others.
bool set_odd_scales(DType dtype, float magnitude, std::span<std::byte> out) {
  if (dtype == DType::kMXFP4) return set_mxfp4_scales(magnitude, out), true;
  if (dtype == DType::kNVFP4) return set_nvfp4_scales(magnitude, out), true;
  if (dtype == DType::kIQ1_M) return set_iq1_m_scales(magnitude, out), true;
  return false;
}

/// Random codes under scales that allow weights up to about `magnitude`.
Result<void> fill(const FormatInfo& format, float magnitude, uint64_t seed, std::span<std::byte> out) {
  if (format.block_elements == 1) {
    fill_floats(format, magnitude, seed, out);
    return {};
  }
  for (size_t i = 0; i + 8 <= out.size(); i += 8) {
    const uint64_t bits = next_random(seed);
    std::memcpy(out.data() + i, &bits, sizeof bits);
  }
  if (set_odd_scales(format.dtype, magnitude, out)) return {};
  for (const ScaleLayout& layout : scale_layouts()) {
    if (layout.dtype != format.dtype) continue;
    const float scale = magnitude / layout.largest;
    for (size_t i = 0; i < out.size(); i += static_cast<size_t>(format.block_bytes)) {
      put_half(out.data() + i, layout.scale_offset, scale);
      if (layout.min_offset < 0) continue;
      put_half(out.data() + i, layout.min_offset, scale * layout.min_factor);
      match_mins(format.dtype, out.data() + i);
    }
    return {};
  }
  return make_error(ErrorCode::kUnsupported, "random weights: no scale layout for {}", format.name);
}

/// Of the first blocks: enough of them that the figure is within a percent.
float root_mean_square(const FormatInfo& format, std::span<const std::byte> blocks) {
  constexpr size_t kMostElements = 1 << 16;
  const auto block_elements = static_cast<size_t>(format.block_elements);
  const size_t n_blocks =
      std::min(blocks.size() / static_cast<size_t>(format.block_bytes), kMostElements / block_elements);
  std::vector<float> weights(n_blocks * block_elements);
  format.decode(blocks.data(), weights.data(), static_cast<int64_t>(weights.size()));
  double sum = 0;
  for (const float weight : weights) sum += static_cast<double>(weight) * static_cast<double>(weight);
  return static_cast<float>(std::sqrt(sum / static_cast<double>(weights.size())));
}

}  // namespace

Result<void> fill_random_blocks(const FormatInfo& format, float rms, uint64_t seed, std::span<std::byte> out) {
  TRY(fill(format, rms, seed, out));
  const float found = root_mean_square(format, out);
  return found > 0 ? fill(format, rms * rms / found, seed, out) : Result<void>();
}

}  // namespace ferrox::bench
