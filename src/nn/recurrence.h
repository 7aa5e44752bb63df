// How does a recurrent layer run? Project, convolve, walk through the rows of each sequence, project back.
#pragma once

#include "kernels/recurrence_args.h"
#include "nn/decoder.h"
#include "nn/pass.h"

namespace ferrox {

enum class ConvolutionOutput : uint8_t { kPlain, kSilu };

/// out[row] = convolution(x)[row], for each segment by itself. Rows of x lie x_stride floats apart, those of out side
/// by side. State, at `offset` in that of each segment: state_floats(convolution).
void run_convolution(const Pass& pass, const ShortConvolution& convolution, ConvolutionOutput output, int64_t offset,
                     const float* x, int64_t x_stride, float* out);

/// out[row] = layer(x)[row]; x and out are [n_rows][n_embd]. Reads and replaces each segment's state from `offset` on.
void run_recurrence(const Pass& pass, const GatedConvolution& layer, int64_t offset, const float* x, float* out);
void run_recurrence(const Pass& pass, const SelectiveScan& layer, int64_t offset, const float* x, float* out);
void run_recurrence(const Pass& pass, const DeltaRule& layer, int64_t offset, const float* x, float* out);

/// A segment's rows, for one of the parts that don't know of each other: a head, or a group of channels.
struct SegmentPart {
  const BatchSegment* segment;
  int64_t first_row;  ///< in the batch
  int64_t index;      ///< of the part
};

/// work(SegmentPart) for each of n_parts parts of each segment, shared out to the threads.
template <class Work>
void for_each_part(const Pass& pass, int64_t n_parts, const Work& work) {
  std::vector<SegmentPart> parts;
  int64_t first_row = 0;
  for (const BatchSegment& segment : pass.batch.segments) {
    for (int64_t index = 0; index < n_parts; ++index) parts.push_back({&segment, first_row, index});
    first_row += segment.n_rows;
  }
  pass.compute.pool.run(static_cast<int64_t>(parts.size()),
                        [&](int64_t i, int) { work(parts[static_cast<size_t>(i)]); });
}

}  // namespace ferrox
