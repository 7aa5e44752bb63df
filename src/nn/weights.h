// What is a weight? A matrix read in place from the file, or a short vector of floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernel_table.h"
#include "tensor/format.h"

namespace ferrox {

/// y = scale * (W x) + b. W is [n_out][n_in] in the file's format.
struct Linear {
  const FormatKernels* kernels = nullptr;  ///< nullptr: absent
  const std::byte* weights = nullptr;      ///< n_out rows of row_bytes
  int64_t n_in = 0;
  int64_t n_out = 0;
  int64_t row_bytes = 0;
  float scale = 1.0f;       ///< of the whole matrix, beside its blocks' own (NVFP4 files carry one)
  std::vector<float> bias;  ///< [n_out] or empty

  explicit operator bool() const { return kernels != nullptr; }
};

/// Output rows [first, first + n) of `linear`, read in place: matrices that a file keeps stacked are taken apart so.
Linear slice_rows(const Linear& linear, int64_t first, int64_t n);

/// linear with everything it gives multiplied by `factor`.
void scale_output(Linear& linear, float factor);

/// n_experts matrices of one shape, one after the other.
struct ExpertLinear {
  Linear first;  ///< expert 0; no bias
  int64_t n_experts = 0;
  int64_t expert_rows = 0;    ///< weight rows from one expert's to the next's; 0: first.n_out
  std::vector<float> scales;  ///< [n_experts] or empty
  std::vector<float> biases;  ///< [n_experts][n_out] or empty

  explicit operator bool() const { return static_cast<bool>(first); }

  Linear expert(int64_t index) const {
    Linear linear = first;
    linear.weights += index * (expert_rows > 0 ? expert_rows : first.n_out) * first.row_bytes;
    if (!scales.empty()) linear.scale = scales[static_cast<size_t>(index)];
    if (!biases.empty())
      linear.bias.assign(biases.begin() + index * first.n_out, biases.begin() + (index + 1) * first.n_out);
    return linear;
  }
};

/// Output rows [first, first + n) of each expert's matrix, read in place.
ExpertLinear slice_rows(const ExpertLinear& experts, int64_t first, int64_t n);

/// Token id -> row of n_embd floats.
struct Embedding {
  const FormatInfo* format = nullptr;
  const std::byte* rows = nullptr;
  int64_t n_embd = 0;
  int64_t n_vocab = 0;
  int64_t row_bytes = 0;
};

/// RMS norm when `bias` is empty and is_layer_norm is false.
struct Norm {
  std::vector<float> weight;  ///< empty: no norm at all
  std::vector<float> bias;
  float epsilon = 0.0f;
  bool is_layer_norm = false;

  explicit operator bool() const { return !weight.empty(); }
};

}  // namespace ferrox
