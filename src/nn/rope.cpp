#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ferrox {
namespace {

/// The pair (as a real number) that turns `turns` times in the original context.
double pair_of_turns(double turns, double n_rotated, double base, double original_context) {
  return n_rotated * std::log(original_context / (turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(base));
}

}  // namespace

std::vector<double> rope_frequencies(int64_t n_rotated, double base, std::span<const float> divisors) {
  std::vector<double> frequencies(static_cast<size_t>(n_rotated / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(n_rotated));
    if (!divisors.empty()) frequencies[i] /= static_cast<double>(divisors[i]);
  }
  return frequencies;
}

void apply_yarn(const YarnScaling& yarn, double base, Rope& rope) {
  const double n_rotated = static_cast<double>(rope.n_rotated());
  const double low = std::max(0.0, std::floor(pair_of_turns(yarn.beta_fast, n_rotated, base, yarn.original_context)));
  const double high =
      std::min(n_rotated - 1, std::ceil(pair_of_turns(yarn.beta_slow, n_rotated, base, yarn.original_context)));
  for (size_t i = 0; i < rope.frequencies.size(); ++i) {
    const double along = (static_cast<double>(i) - low) / std::max(0.001, high - low);
    const double keep = (1.0 - std::clamp(along, 0.0, 1.0)) * yarn.ext_factor;
    rope.frequencies[i] *= keep + (1.0 - keep) / yarn.factor;
  }
  const double stretch = yarn.ext_factor != 0.0 ? 1.0 + 0.1 * std::log(yarn.factor) : 1.0;
  rope.magnitude = static_cast<float>(yarn.attn_factor * stretch);
}

RopeAngles::RopeAngles(const Rope& rope, int64_t max_rows)
    : rope_(rope),
      cos_(static_cast<size_t>(max_rows) * rope.frequencies.size()),
      sin_(static_cast<size_t>(max_rows) * rope.frequencies.size()) {}

void RopeAngles::set_row(int64_t row, int64_t position) {
  const size_t n_pairs = rope_.frequencies.size();
  for (size_t i = 0; i < n_pairs; ++i) {
    const double angle = static_cast<double>(position) * rope_.frequencies[i];
    cos_[static_cast<size_t>(row) * n_pairs + i] = static_cast<float>(std::cos(angle)) * rope_.magnitude;
    sin_[static_cast<size_t>(row) * n_pairs + i] = static_cast<float>(std::sin(angle)) * rope_.magnitude;
  }
}

void RopeAngles::rotate(int64_t row, float* head) const {
  const size_t n_pairs = rope_.frequencies.size();
  const float* cosines = cos_.data() + static_cast<size_t>(row) * n_pairs;
  const float* sines = sin_.data() + static_cast<size_t>(row) * n_pairs;
  const bool interleaved = rope_.pairs == RopePairs::kInterleaved;
  const size_t step = interleaved ? 2 : 1;
  const size_t partner = interleaved ? 1 : n_pairs;
  for (size_t i = 0; i < n_pairs; ++i) {
    float& a = head[i * step];
    float& b = head[i * step + partner];
    const float rotated = a * cosines[i] - b * sines[i];
    b = a * sines[i] + b * cosines[i];
    a = rotated;
  }
}

}  // namespace ferrox
