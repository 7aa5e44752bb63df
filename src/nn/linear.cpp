#include "nn/linear.h"

#include <algorithm>

#include "base/profile.h"

namespace ferrox {
namespace {

/// A range of one job's weight rows.
struct Chunk {
  const LinearJob* job;
  const ActBlock* blocks;
  int64_t first_row;
  int64_t n_rows;
};

/// Chunks a job is cut into for each thread: enough to even out threads that are slowed by neighbours, few enough that
/// the rows of one chunk, which are prefetched in order, stay long.
constexpr int64_t kChunksPerThread = 4;
/// Weight rows of a product tile; chunks are multiples of it.
constexpr int64_t kTileRows = 32;

void add_chunks(const Compute& compute, const LinearJob& job, std::vector<Chunk>& chunks) {
  if (job.input->n_rows() == 0) return;
  const ActBlock* blocks = job.input->blocks(job.linear->kernels->act_kind, compute);
  const int64_t n_tiles = (job.linear->n_out + kTileRows - 1) / kTileRows;
  const int64_t n_wanted = kChunksPerThread * compute.pool.n_threads();
  const int64_t rows = std::max<int64_t>(1, (n_tiles + n_wanted - 1) / n_wanted) * kTileRows;
  for (int64_t row = 0; row < job.linear->n_out; row += rows) {
    chunks.push_back({&job, blocks, row, std::min(rows, job.linear->n_out - row)});
  }
}

void run_chunk(const Compute& compute, const Chunk& chunk, int thread) {
  const Linear& linear = *chunk.job->linear;
  const Activations& input = *chunk.job->input;
  ProductArgs args;
  args.weights = linear.weights + chunk.first_row * linear.row_bytes;
  args.row_bytes = linear.row_bytes;
  args.n_rows = chunk.n_rows;
  args.k = linear.n_in;
  args.acts = chunk.blocks;
  args.x = input.x();
  args.x_stride = input.stride();
  args.m = input.n_rows();
  args.out = chunk.job->out + chunk.first_row;
  args.out_stride = chunk.job->out_stride;
  args.scratch = compute.product_scratch + thread * compute.product_scratch_stride;
  linear.kernels->product(args);
  for (int64_t row = 0; row < args.m; ++row) {
    float* out = args.out + row * args.out_stride;
    if (linear.scale != 1.0f) compute.kernels.scale(linear.scale, chunk.n_rows, out);
    if (!linear.bias.empty()) compute.kernels.add(linear.bias.data() + chunk.first_row, chunk.n_rows, out);
  }
}

/// Each weight is read once, and multiplied with every row.
Work work_of(const LinearJob& job) {
  const Linear& linear = *job.linear;
  const double n_operations =
      2.0 * static_cast<double>(linear.n_out) * static_cast<double>(linear.n_in * job.input->n_rows());
  Work work;
  work.bytes = static_cast<double>(linear.n_out * linear.row_bytes);
  (linear.kernels->act_kind == ActKind::kFloat ? work.f32_operations : work.int8_operations) = n_operations;
  return work;
}

}  // namespace

const ActBlock* Activations::blocks(ActKind kind, const Compute& compute) {
  if (kind == ActKind::kFloat) return nullptr;
  ActBlock* out = blocks_ + (kind == ActKind::kInt8 ? 0 : n_blocks(n_rows_, width_) / 2);
  if (bool& made = made_[static_cast<int>(kind)]; !made) {
    made = true;
    const ProfileScope scope(compute.pool.profile(), "quantise");
    compute.pool.run(n_rows_, [&](int64_t row, int) {
      compute.kernels.quantize(x_ + row * stride_, width_, kind, out + row, n_rows_);
    });
  }
  return out;
}

void run_linear(const Compute& compute, std::span<const LinearJob> jobs) {
  std::vector<Chunk> chunks;
  for (const LinearJob& job : jobs) add_chunks(compute, job, chunks);
  if (Profile* profile = compute.pool.profile()) {
    for (const LinearJob& job : jobs) add_work(profile, work_of(job));
  }
  compute.pool.run(static_cast<int64_t>(chunks.size()),
                   [&](int64_t i, int thread) { run_chunk(compute, chunks[static_cast<size_t>(i)], thread); });
}

}  // namespace ferrox
