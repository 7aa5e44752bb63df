// How are positions turned into rotations? Frequencies fixed at load, cosines and sines once a batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ferrox {

/// Which elements of a head are rotated together.
enum class RopePairs {
  kInterleaved,  ///< (2i, 2i + 1): the llama family's files
  kHalves,       ///< (i, i + n/2): "NeoX"
};

/// Rotary embedding of one model. Angle of pair i at position p is p * frequencies[i]; cosines and sines are then
/// multiplied by `magnitude`.
struct Rope {
  RopePairs pairs = RopePairs::kHalves;
  std::vector<double> frequencies;  ///< [n_rotated / 2]
  float magnitude = 1.0f;

  int64_t n_rotated() const { return static_cast<int64_t>(frequencies.size()) * 2; }
};

/// YaRN (arXiv 2309.00071): frequencies that turn fewer than beta_slow times in the original context are divided by
/// `factor`, those that turn more than beta_fast times stay, and a linear ramp lies between.
struct YarnScaling {
  double factor = 1.0;
  double original_context = 0.0;
  double ext_factor = 1.0;
  double attn_factor = 1.0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
};

/// base^(-2i / n_rotated) for each pair, divided by divisors[i] when there are any.
std::vector<double> rope_frequencies(int64_t n_rotated, double base, std::span<const float> divisors);

/// Applies YaRN to plain frequencies and gives the magnitude.
void apply_yarn(const YarnScaling& yarn, double base, Rope& rope);

/// Cosines and sines of one batch: [row][n_rotated / 2] each.
class RopeAngles {
 public:
  /// Room for max_rows rows.
  RopeAngles(const Rope& rope, int64_t max_rows);

  void set_row(int64_t row, int64_t position);

  /// Rotates one head's first n_rotated elements in place.
  void rotate(int64_t row, float* head) const;

  uint64_t size_bytes() const { return (cos_.size() + sin_.size()) * sizeof(float); }

 private:
  const Rope& rope_;
  std::vector<float> cos_;
  std::vector<float> sin_;
};

}  // namespace ferrox
