#include "nn/recurrence_spec.h"

#include "kernels/recurrence_args.h"

namespace ferrox {
namespace {

int64_t state_of(const std::monostate&) { return 0; }
int64_t state_of(const GatedConvolution& layer) { return state_floats(layer.convolution); }
int64_t state_of(const SelectiveScan& layer) {
  return state_floats(layer.convolution) + layer.n_heads * lane_state_floats(layer.head_dim, layer.n_states);
}
int64_t state_of(const DeltaRule& layer) {
  return state_floats(layer.convolution) + layer.n_v_heads * lane_state_floats(layer.v_dim, layer.k_dim);
}

RecurrenceWidths row_of(const std::monostate&) { return {}; }
RecurrenceWidths row_of(const GatedConvolution& layer) {
  return {layer.in.n_out, layer.convolution.n_channels, 0, layer.out.n_in};
}
RecurrenceWidths row_of(const SelectiveScan& layer) {
  return {layer.in.n_out, layer.convolution.n_channels, 2 * layer.n_heads, layer.out.n_in};
}
RecurrenceWidths row_of(const DeltaRule& layer) {
  const int64_t projected = layer.qkv.n_out + layer.z.n_out + layer.beta_step.n_out;
  return {projected, layer.convolution.n_channels, 3 * layer.n_v_heads, layer.out.n_in};
}

}  // namespace

int64_t state_floats(const ShortConvolution& convolution) {
  return round_up_16((convolution.n_taps - 1) * convolution.n_channels);
}

int64_t state_floats(const Recurrence& recurrence) {
  return std::visit([](const auto& layer) { return state_of(layer); }, recurrence);
}

RecurrenceWidths widths_of(const Recurrence& recurrence) {
  return std::visit([](const auto& layer) { return row_of(layer); }, recurrence);
}

}  // namespace ferrox
