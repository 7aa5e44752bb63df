#include "nn/weights.h"

#include "base/check.h"

namespace ferrox {

Linear slice_rows(const Linear& linear, int64_t first, int64_t n) {
  CHECK(first >= 0 && n >= 0 && first + n <= linear.n_out, "a slice lies inside its matrix");
  Linear slice = linear;
  slice.weights += first * linear.row_bytes;
  slice.n_out = n;
  if (!linear.bias.empty()) slice.bias.assign(linear.bias.begin() + first, linear.bias.begin() + first + n);
  return slice;
}

ExpertLinear slice_rows(const ExpertLinear& experts, int64_t first, int64_t n) {
  ExpertLinear slice = experts;
  slice.first = slice_rows(experts.first, first, n);
  slice.expert_rows = experts.expert_rows > 0 ? experts.expert_rows : experts.first.n_out;
  slice.biases.clear();
  for (int64_t i = 0; !experts.biases.empty() && i < experts.n_experts; ++i) {
    const auto bias = experts.biases.begin() + i * experts.first.n_out + first;
    slice.biases.insert(slice.biases.end(), bias, bias + n);
  }
  return slice;
}

void scale_output(Linear& linear, float factor) {
  linear.scale *= factor;
  for (float& bias : linear.bias) bias *= factor;
}

}  // namespace ferrox
