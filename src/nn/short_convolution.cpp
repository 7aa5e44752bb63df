// Causal convolutions of single channels, and the gated one that is a layer by itself.
#include <algorithm>

#include "nn/recurrence.h"

namespace ferrox {
namespace {

/// Channels that a thread takes at once: few enough that a row's and its weights stay in the first cache, enough that
/// memory is read in lines of several hundred bytes.
constexpr int64_t kChannelsAtOnce = 256;

Work work_of(const Pass& pass, const ShortConvolution& convolution) {
  Work work;
  work.f32_operations = 2.0 * static_cast<double>(pass.n_rows * convolution.n_channels * convolution.n_taps);
  work.bytes = 8.0 * static_cast<double>(std::ssize(pass.batch.segments) * state_floats(convolution));
  return work;
}

}  // namespace

void run_convolution(const Pass& pass, const ShortConvolution& convolution, ConvolutionOutput output, int64_t offset,
                     const float* x, int64_t x_stride, float* out) {
  const ProfileScope scope(pass.compute.pool.profile(), "convolution");
  add_work(pass.compute.pool.profile(), work_of(pass, convolution));
  const KernelTable& kernels = pass.compute.kernels;
  const int64_t n_channels = convolution.n_channels;
  const int64_t n_parts = (n_channels + kChannelsAtOnce - 1) / kChannelsAtOnce;
  for_each_part(pass, n_parts, [&](const SegmentPart& rows) {
    const int64_t channel = rows.index * kChannelsAtOnce;
    ConvolutionArgs args;
    args.x = x + rows.first_row * x_stride + channel;
    args.x_stride = x_stride;
    args.tail = rows.segment->state + offset + channel;
    args.weights = convolution.weights.data() + channel;
    args.bias = convolution.bias.empty() ? nullptr : convolution.bias.data() + channel;
    args.channel_stride = n_channels;
    args.n_taps = convolution.n_taps;
    args.n_channels = std::min(kChannelsAtOnce, n_channels - channel);
    args.n_rows = rows.segment->n_rows;
    args.out = out + rows.first_row * n_channels + channel;
    args.out_stride = n_channels;
    kernels.convolve(args);
    if (output == ConvolutionOutput::kPlain) return;
    for (int64_t row = 0; row < args.n_rows; ++row) kernels.silu(args.n_channels, args.out + row * n_channels);
  });
}

void run_recurrence(const Pass& pass, const GatedConvolution& layer, int64_t offset, const float* x, float* out) {
  const KernelTable& kernels = pass.compute.kernels;
  Buffers& buffers = pass.buffers;
  const int64_t n_channels = layer.convolution.n_channels;
  float* bcx = buffers.projected.data();
  float* convolved = buffers.convolved.data();
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  const LinearJob in{&layer.in, &input, bcx, layer.in.n_out};
  project(pass, "b c x", {&in, 1});
  const auto gate = [&](const float* gates, float* rows, int64_t stride) {
    const ProfileScope scope(pass.compute.pool.profile(), "gate");
    pass.compute.pool.run(pass.n_rows, [&](int64_t row, int) {
      kernels.mul(gates + row * layer.in.n_out, n_channels, rows + row * stride);
    });
  };
  gate(bcx, bcx + 2 * n_channels, layer.in.n_out);
  run_convolution(pass, layer.convolution, ConvolutionOutput::kPlain, offset, bcx + 2 * n_channels, layer.in.n_out,
                  convolved);
  gate(bcx + n_channels, convolved, n_channels);
  Activations gated(convolved, pass.n_rows, n_channels, n_channels, buffers.blocks.data());
  const LinearJob projection{&layer.out, &gated, out, pass.n_embd};
  project(pass, "output", {&projection, 1});
}

}  // namespace ferrox
