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

void scale_output(Linear& linear, float factor) {
  linear.scale *= factor;
  for (float& bias : linear.bias) bias *= factor;
}

}  // namespace ferrox
