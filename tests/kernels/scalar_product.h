// What is the product of one weight row and one activation row? The arithmetic that every kernel has to reproduce bit
// for bit, written one operation at a time, and how far it may be from the product of real numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "formats_list.inl"
#include "kernels/kernel_table.h"
#include "tensor/format.h"

namespace ferrox {
namespace {

/// A weight row of a format with codes, taken apart.
template <class Scales>
struct CodedRow {
  std::vector<uint8_t> codes;  ///< [k]
  std::vector<Scales> blocks;  ///< [k / kBlock]
};

template <class Format, class Scales>
CodedRow<Scales> take_apart(const std::byte* row, int64_t k) {
  CodedRow<Scales> out{std::vector<uint8_t>(static_cast<size_t>(k)), {}};
  const auto* block = reinterpret_cast<const uint8_t*>(row);
  for (int64_t i = 0; i < k; i += Format::kBlock, block += Format::kBytes) {
    out.blocks.emplace_back();
    Format::unpack(block, out.codes.data() + i, out.blocks.back());
  }
  return out;
}

/// Sum of (code - zero) * q over the sub-block of Format::kSub weights that starts at weight `first` of the row.
template <class Format>
int32_t sub_sum(const std::vector<uint8_t>& codes, const ActBlock& act, int64_t first) {
  int32_t sum = 0;
  for (int64_t k = first; k < first + Format::kSub; ++k) {
    sum += (codes[static_cast<size_t>(k)] - Format::kZero) * act.q[k % kKBlock];
  }
  return sum;
}

inline int32_t q_sum(const ActBlock& act, int64_t first, int n) {
  int32_t sum = 0;
  for (int64_t k = first; k < first + n; ++k) sum += act.q[k % kKBlock];
  return sum;
}

/// ScaleKind::kReal.
template <class Format>
float scalar_product(const CodedRow<RealScales>& row, const std::vector<ActBlock>& acts) {
  const auto k = static_cast<int64_t>(row.codes.size());
  float out = 0.0f;
  for (int64_t k_block = 0; k_block < k; k_block += kKBlock) {
    const ActBlock& act = acts[static_cast<size_t>(k_block / kKBlock)];
    float t = 0.0f;
    for (int64_t first = k_block; first < std::min<int64_t>(k_block + kKBlock, k); first += Format::kSub) {
      const RealScales& scales = row.blocks[static_cast<size_t>(first / Format::kBlock)];
      const int64_t sub = first % Format::kBlock / Format::kSub;
      const auto pow2 = static_cast<float>(1 << act.shift[first % kKBlock / 32]);
      t = std::fma(static_cast<float>(sub_sum<Format>(row.codes, act, first)) * pow2, scales.scale[sub], t);
      if (Format::kHasMin) {
        t = std::fma(-(pow2 * static_cast<float>(q_sum(act, first, Format::kSub))), scales.min[sub], t);
      }
    }
    out = std::fma(t, act.d, out);
  }
  return out;
}

/// ScaleKind::kInteger.
template <class Format>
float scalar_product(const CodedRow<IntegerScales>& row, const std::vector<ActBlock>& acts) {
  float out = 0.0f;
  for (size_t b = 0; b < row.blocks.size(); ++b) {
    const IntegerScales& scales = row.blocks[b];
    int32_t total = 0;
    int32_t min_total = 0;
    for (int sub = 0; sub < kKBlock / Format::kSub; ++sub) {
      const int64_t first = static_cast<int64_t>(b) * kKBlock + sub * Format::kSub;
      total += scales.scale[sub] * sub_sum<Format>(row.codes, acts[b], first);
      if (Format::kHasMin) min_total += scales.min[sub] * q_sum(acts[b], first, Format::kSub);
    }
    float t = static_cast<float>(total) * scales.d;
    if (Format::kHasMin) t = std::fma(-static_cast<float>(min_total), scales.dmin, t);
    out = std::fma(t, acts[b].d, out);
  }
  return out;
}

/// ScaleKind::kFloat.
inline float scalar_product(const std::vector<float>& row, const float* x) {
  float out = 0.0f;
  for (size_t k_block = 0; k_block < row.size(); k_block += kKBlock) {
    float sum = 0.0f;
    for (size_t lane = 0; lane < 16; ++lane) {
      float t = 0.0f;
      for (size_t k = k_block + lane; k < k_block + kKBlock; k += 16) {
        t = k < row.size() ? std::fma(row[k], x[k], t) : std::fma(0.0f, 0.0f, t);
      }
      sum = sum + t;
    }
    out = out + sum;
  }
  return out;
}

/// A product in double precision and how far a kernel may be from it.
struct RealProduct {
  double value;
  double bound;
};

/// |scale * (code - zero)| + |min| of each weight: what the roundings of a sum are relative to.
template <class Format>
std::vector<double> term_sizes(const std::byte* row, int64_t k) {
  std::vector<double> sizes;
  const auto add = [&](const auto& apart) {
    for (int64_t i = 0; i < k; ++i) {
      const auto& scales = apart.blocks[static_cast<size_t>(i / Format::kBlock)];
      const int64_t sub = i % Format::kBlock / Format::kSub;
      const double code = std::abs(apart.codes[static_cast<size_t>(i)] - Format::kZero);
      double scale = std::abs(scales.scale[sub]);
      double min = Format::kHasMin ? std::abs(scales.min[sub]) : 0.0;
      if constexpr (Format::kScale == ScaleKind::kInteger) {
        scale *= std::abs(scales.d);
        if (Format::kHasMin) min *= std::abs(scales.dmin);
      }
      sizes.push_back(scale * code + min);
    }
  };
  if constexpr (Format::kScale == ScaleKind::kReal) add(take_apart<Format, RealScales>(row, k));
  if constexpr (Format::kScale == ScaleKind::kInteger) add(take_apart<Format, IntegerScales>(row, k));
  return sizes;
}

/// Of decoded weights with int8 activations. Each activation is off by half a step of d * 2^e, a little more because
/// 1 / d is rounded too; each of the n_ops float operations, and each of the three of decoding, by half a unit in the
/// last place of what its terms may add up to.
inline RealProduct real_product(const std::vector<float>& weights, const std::vector<double>& sizes, const float* x,
                                const std::vector<ActBlock>& acts, int sub) {
  RealProduct out{0.0, 0.0};
  double terms = 0.0;
  for (size_t k = 0; k < weights.size(); ++k) {
    const ActBlock& act = acts[k / kKBlock];
    const double step = double{act.d} * (1 << act.shift[k % kKBlock / 32]);
    out.value += double{weights[k]} * x[k];
    out.bound += std::abs(weights[k]) * step * 0.5001;
    terms += sizes[k] * step * (std::abs(act.q[k % kKBlock]) + 1);
  }
  const double n_ops = 2.0 * static_cast<double>(weights.size()) / sub + static_cast<double>(acts.size()) * 3 + 6;
  out.bound += n_ops * 0x1p-24 * terms;
  return out;
}

/// Of float weights and activations.
inline RealProduct real_product(const std::vector<float>& weights, const float* x) {
  RealProduct out{0.0, 0.0};
  double terms = 0.0;
  for (size_t k = 0; k < weights.size(); ++k) {
    out.value += double{weights[k]} * x[k];
    terms += std::abs(double{weights[k]} * x[k]);
  }
  out.bound = (kKBlock + static_cast<double>(weights.size()) / kKBlock + 1) * 0x1p-24 * terms;
  return out;
}

}  // namespace
}  // namespace ferrox
