// The gated delta rule's layer: each head's state is a matrix that is corrected towards v wherever k asks it.
#include <cmath>

#include "nn/recurrence.h"

namespace ferrox {
namespace {

/// Where the parts of a row lie.
struct Parts {
  float* q;  ///< rows `stride` floats apart
  float* k;
  const float* v;
  int64_t stride;
  const float* z;          ///< [n_rows][n_v_heads * v_dim]
  const float* beta_step;  ///< [n_rows][2 * n_v_heads]
};

Parts find_parts(const Pass& pass, const DeltaRule& layer) {
  float* convolved = pass.buffers.convolved.data();
  const int64_t k_width = layer.n_k_heads * layer.k_dim;
  const float* z = pass.buffers.projected.data() + pass.n_rows * layer.qkv.n_out;
  return {.q = convolved,
          .k = convolved + k_width,
          .v = convolved + 2 * k_width,
          .stride = layer.convolution.n_channels,
          .z = z,
          .beta_step = z + pass.n_rows * layer.z.n_out};
}

/// Brings q and k of one head to their lengths, in place.
void norm_keys(const Pass& pass, const DeltaRule& layer, const Parts& parts, const SegmentPart& rows) {
  const auto l2_norm = pass.compute.kernels.l2_norm;
  const auto q_length = static_cast<float>(1.0 / std::sqrt(static_cast<double>(layer.k_dim)));
  for (int64_t row = rows.first_row; row < rows.first_row + rows.segment->n_rows; ++row) {
    float* q = parts.q + row * parts.stride + rows.index * layer.k_dim;
    float* k = parts.k + row * parts.stride + rows.index * layer.k_dim;
    l2_norm(q, q_length, layer.length_epsilon, layer.k_dim, q);
    l2_norm(k, 1.0f, layer.length_epsilon, layer.k_dim, k);
  }
}

/// What a value head does with its state in each row, [n_rows] each.
struct HeadSteps {
  float* betas;
  float* steps;
  float* decays;
};

HeadSteps find_steps(const Pass& pass, const DeltaRule& layer, const Parts& parts, const SegmentPart& rows,
                     int64_t v_head) {
  const int64_t n_shared = layer.n_v_heads / layer.n_k_heads;
  const int64_t beta_at = rows.index * 2 * n_shared + v_head % n_shared;
  float* betas = pass.buffers.steps.data() + 3 * v_head * pass.n_rows + rows.first_row;
  const HeadSteps head{betas, betas + pass.n_rows, betas + 2 * pass.n_rows};
  const int64_t n_rows = rows.segment->n_rows;
  for (int64_t i = 0; i < n_rows; ++i) {
    const float* row = parts.beta_step + (rows.first_row + i) * layer.beta_step.n_out + beta_at;
    head.betas[i] = row[0];
    head.steps[i] = row[n_shared];
  }
  const auto at = static_cast<size_t>(v_head);
  pass.compute.kernels.sigmoid(n_rows, head.betas);
  pass.compute.kernels.find_decays(layer.step_bias[at], layer.rate[at], n_rows, head.steps, head.decays);
  return head;
}

void learn_head(const Pass& pass, const DeltaRule& layer, const Parts& parts, int64_t offset, const SegmentPart& rows,
                int64_t v_head) {
  const HeadSteps head = find_steps(pass, layer, parts, rows, v_head);
  const int64_t at = rows.first_row * parts.stride;
  const int64_t out_width = layer.n_v_heads * layer.v_dim;
  const int64_t out_at = rows.first_row * out_width + v_head * layer.v_dim;
  DeltaRuleArgs args;
  args.q = parts.q + at + rows.index * layer.k_dim;
  args.k = parts.k + at + rows.index * layer.k_dim;
  args.v = parts.v + at + v_head * layer.v_dim;
  args.stride = parts.stride;
  args.decays = head.decays;
  args.betas = head.betas;
  args.state = rows.segment->state + offset + v_head * lane_state_floats(layer.v_dim, layer.k_dim);
  args.k_dim = layer.k_dim;
  args.v_dim = layer.v_dim;
  args.n_rows = rows.segment->n_rows;
  args.out = pass.buffers.attended.data() + out_at;
  args.out_stride = out_width;
  pass.compute.kernels.delta_rule(args);
  for (int64_t i = 0; i < args.n_rows; ++i) {
    float* learned = args.out + i * out_width;
    norm_row(pass.compute.kernels, layer.norm, 0, learned, layer.v_dim, learned);
    pass.compute.kernels.silu_mul(parts.z + out_at + i * out_width, learned, layer.v_dim, learned);
  }
}

void learn_rows(const Pass& pass, const DeltaRule& layer, int64_t offset) {
  const ProfileScope scope(pass.compute.pool.profile(), "delta rule");
  const auto n_states = static_cast<double>(layer.n_v_heads * lane_state_floats(layer.v_dim, layer.k_dim));
  add_work(pass.compute.pool.profile(), {.bytes = 8.0 * n_states * static_cast<double>(pass.batch.segments.size()),
                                         .f32_operations = 7.0 * n_states * static_cast<double>(pass.n_rows)});
  const Parts parts = find_parts(pass, layer);
  const int64_t n_shared = layer.n_v_heads / layer.n_k_heads;
  for_each_part(pass, layer.n_k_heads, [&](const SegmentPart& rows) {
    norm_keys(pass, layer, parts, rows);
    for (int64_t i = 0; i < n_shared; ++i) {
      learn_head(pass, layer, parts, offset, rows, rows.index * n_shared + i);
    }
  });
}

}  // namespace

void run_recurrence(const Pass& pass, const DeltaRule& layer, int64_t offset, const float* x, float* out) {
  Buffers& buffers = pass.buffers;
  float* qkv = buffers.projected.data();
  float* z = qkv + pass.n_rows * layer.qkv.n_out;
  float* beta_step = z + pass.n_rows * layer.z.n_out;
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  const LinearJob projections[] = {{&layer.qkv, &input, qkv, layer.qkv.n_out},
                                   {&layer.z, &input, z, layer.z.n_out},
                                   {&layer.beta_step, &input, beta_step, layer.beta_step.n_out}};
  project(pass, "q k v z beta step", projections);
  run_convolution(pass, layer.convolution, ConvolutionOutput::kSilu, offset, qkv, layer.qkv.n_out,
                  buffers.convolved.data());
  learn_rows(pass, layer, offset + state_floats(layer.convolution));
  const int64_t width = layer.n_v_heads * layer.v_dim;
  Activations learned(buffers.attended.data(), pass.n_rows, width, width, buffers.blocks.data());
  const LinearJob projection{&layer.out, &learned, out, pass.n_embd};
  project(pass, "output", {&projection, 1});
}

}  // namespace ferrox
