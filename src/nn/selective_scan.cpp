// Mamba 2's layer: a state for each channel of each head, that steps and inputs of the text's own choice move along.
#include "nn/recurrence.h"

namespace ferrox {
namespace {

/// Where the parts of a row lie.
struct Parts {
  const float* z;          ///< rows `stride` floats apart
  const float* raw_steps;  ///< likewise
  int64_t stride;
  const float* x;  ///< rows `convolved_stride` floats apart
  const float* b;
  const float* c;
  int64_t convolved_stride;
};

Parts find_parts(const Pass& pass, const SelectiveScan& layer) {
  const float* projected = pass.buffers.projected.data();
  const float* convolved = pass.buffers.convolved.data();
  const int64_t n_channels = layer.convolution.n_channels;
  return {.z = projected,
          .raw_steps = projected + layer.n_inner() + n_channels,
          .stride = layer.in.n_out,
          .x = convolved,
          .b = convolved + layer.n_inner(),
          .c = convolved + layer.n_inner() + layer.n_groups * layer.n_states,
          .convolved_stride = n_channels};
}

/// The steps of a head and what they decay its state by, [n_rows] each.
struct HeadSteps {
  float* steps;
  float* decays;
};

HeadSteps find_steps(const Pass& pass, const SelectiveScan& layer, const Parts& parts, const SegmentPart& rows) {
  const auto head = static_cast<size_t>(rows.index);
  float* steps = pass.buffers.steps.data() + 2 * rows.index * pass.n_rows + rows.first_row;
  float* decays = steps + pass.n_rows;
  for (int64_t i = 0; i < rows.segment->n_rows; ++i) {
    steps[i] = parts.raw_steps[(rows.first_row + i) * parts.stride + rows.index];
  }
  pass.compute.kernels.find_decays(layer.step_bias[head], layer.rate[head], rows.segment->n_rows, steps, decays);
  return {steps, decays};
}

void scan_head(const Pass& pass, const SelectiveScan& layer, const Parts& parts, int64_t offset,
               const SegmentPart& rows) {
  const HeadSteps steps = find_steps(pass, layer, parts, rows);
  const int64_t group = rows.index * layer.n_groups / layer.n_heads;
  const int64_t at = rows.first_row * parts.convolved_stride;
  ScanArgs args;
  args.x = parts.x + at + rows.index * layer.head_dim;
  args.x_stride = parts.convolved_stride;
  args.b = parts.b + at + group * layer.n_states;
  args.c = parts.c + at + group * layer.n_states;
  args.bc_stride = parts.convolved_stride;
  args.steps = steps.steps;
  args.decays = steps.decays;
  args.skip = layer.skip[static_cast<size_t>(rows.index)];
  args.state = rows.segment->state + offset + rows.index * lane_state_floats(layer.head_dim, layer.n_states);
  args.n_channels = layer.head_dim;
  args.n_states = layer.n_states;
  args.n_rows = rows.segment->n_rows;
  args.out = pass.buffers.attended.data() + rows.first_row * layer.n_inner() + rows.index * layer.head_dim;
  args.out_stride = layer.n_inner();
  pass.compute.kernels.scan(args);
}

void scan_rows(const Pass& pass, const SelectiveScan& layer, const Parts& parts, int64_t offset) {
  const ProfileScope scope(pass.compute.pool.profile(), "scan");
  const auto n_states = static_cast<double>(layer.n_heads * lane_state_floats(layer.head_dim, layer.n_states));
  add_work(pass.compute.pool.profile(), {.bytes = 8.0 * n_states * static_cast<double>(pass.batch.segments.size()),
                                         .f32_operations = 5.0 * n_states * static_cast<double>(pass.n_rows)});
  for_each_part(pass, layer.n_heads, [&](const SegmentPart& rows) { scan_head(pass, layer, parts, offset, rows); });
}

/// scanned[row] = norm(silu(z[row]) * scanned[row]).
void gate_rows(const Pass& pass, const SelectiveScan& layer, const Parts& parts, float* scanned) {
  const ProfileScope scope(pass.compute.pool.profile(), "gate and norm");
  const int64_t n_inner = layer.n_inner();
  const int64_t width = n_inner / layer.n_groups;
  pass.compute.pool.run(pass.n_rows, [&](int64_t row, int) {
    float* values = scanned + row * n_inner;
    pass.compute.kernels.silu_mul(parts.z + row * parts.stride, values, n_inner, values);
    if (!layer.norm) return;
    for (int64_t at = 0; at < n_inner; at += width) {
      norm_row(pass.compute.kernels, layer.norm, at, values + at, width, values + at);
    }
  });
}

}  // namespace

void run_recurrence(const Pass& pass, const SelectiveScan& layer, int64_t offset, const float* x, float* out) {
  Buffers& buffers = pass.buffers;
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  const LinearJob in{&layer.in, &input, buffers.projected.data(), layer.in.n_out};
  project(pass, "z x b c step", {&in, 1});
  run_convolution(pass, layer.convolution, ConvolutionOutput::kSilu, offset, buffers.projected.data() + layer.n_inner(),
                  layer.in.n_out, buffers.convolved.data());
  const Parts parts = find_parts(pass, layer);
  scan_rows(pass, layer, parts, offset + state_floats(layer.convolution));
  gate_rows(pass, layer, parts, buffers.attended.data());
  Activations scanned(buffers.attended.data(), pass.n_rows, layer.n_inner(), layer.n_inner(), buffers.blocks.data());
  const LinearJob projection{&layer.out, &scanned, out, pass.n_embd};
  project(pass, "output", {&projection, 1});
}

}  // namespace ferrox
