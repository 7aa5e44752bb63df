#include "nn/linear.h"

#include <algorithm>

#include "base/profile.h"

namespace ferrox {
namespace {

/// A range of one job's weight rows, and of its activation rows.
struct Chunk {
  const LinearJob* job;
  const ActBlock* blocks;  ///< of all activation rows
  int64_t first_row;
  int64_t n_rows;
  int64_t first_act;
  int64_t n_acts;
};

/// Chunks a job is cut into for each thread: enough to even out threads that are slowed by neighbours, few enough that
/// the rows of one chunk, which are prefetched in order, stay long.
constexpr int64_t kChunksPerThread = 4;
/// Weight rows of a product tile; chunks are multiples of it.
constexpr int64_t kTileRows = 32;

/// Activation rows from which on it costs next to nothing that each thread unpacks the weights for its own ones. Then
/// what a thread computes of a row stays in its cache for whatever comes next.
constexpr int64_t kActsPerThread = 128;
/// What every micro-kernel's number of activation rows divides.
constexpr int64_t kActsGranule = 12;

void add_chunks(const Compute& compute, const LinearJob& job, int64_t first_act, int64_t n_acts, int64_t n_wanted,
                std::vector<Chunk>& chunks) {
  const ActBlock* blocks = job.input->blocks(job.linear->kernels->act_kind, compute);
  const int64_t n_tiles = (job.linear->n_out + kTileRows - 1) / kTileRows;
  const int64_t rows = std::max<int64_t>(1, (n_tiles + n_wanted - 1) / n_wanted) * kTileRows;
  for (int64_t row = 0; row < job.linear->n_out; row += rows) {
    chunks.push_back({&job, blocks, row, std::min(rows, job.linear->n_out - row), first_act, n_acts});
  }
}

/// Many activation rows are divided among threads, as all other work on rows is; else weight rows are.
std::vector<Chunk> divide(const Compute& compute, std::span<const LinearJob> jobs) {
  const int64_t n_threads = compute.pool.n_threads();
  int64_t most_acts = 0;
  for (const LinearJob& job : jobs) most_acts = std::max(most_acts, job.input->n_rows());
  const int64_t n_parts = most_acts >= n_threads * kActsPerThread ? n_threads : 1;
  std::vector<Chunk> chunks;
  for (int64_t part = 0; part < n_parts; ++part) {
    for (const LinearJob& job : jobs) {
      const int64_t n = job.input->n_rows();
      const auto start = [&](int64_t i) { return i == n_parts ? n : n * i / n_parts / kActsGranule * kActsGranule; };
      if (start(part) == start(part + 1)) continue;
      add_chunks(compute, job, start(part), start(part + 1) - start(part), kChunksPerThread * n_threads / n_parts,
                 chunks);
    }
  }
  return chunks;
}

const std::byte* weights_of(const Chunk& chunk) {
  return chunk.job->linear->weights + chunk.first_row * chunk.job->linear->row_bytes;
}

/// `next`: what comes after it in order, or nullptr.
void run_chunk(const Compute& compute, const Chunk& chunk, const Chunk* next, int thread) {
  const Linear& linear = *chunk.job->linear;
  const Activations& input = *chunk.job->input;
  ProductArgs args{};
  args.weights = weights_of(chunk);
  args.row_bytes = linear.row_bytes;
  args.n_rows = chunk.n_rows;
  args.next = next != nullptr ? weights_of(*next) : nullptr;
  args.k = linear.n_in;
  if (chunk.blocks != nullptr) args.acts = chunk.blocks + chunk.first_act;
  args.acts_stride = input.n_rows();
  args.x = input.x() + chunk.first_act * input.stride();
  args.x_stride = input.stride();
  args.m = chunk.n_acts;
  args.out = chunk.job->out + chunk.first_act * chunk.job->out_stride + chunk.first_row;
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
  const std::vector<Chunk> chunks = divide(compute, jobs);
  if (Profile* profile = compute.pool.profile()) {
    for (const LinearJob& job : jobs) add_work(profile, work_of(job));
  }
  compute.pool.run(static_cast<int64_t>(chunks.size()), [&](int64_t i, int thread) {
    const Chunk* chunk = &chunks[static_cast<size_t>(i)];
    run_chunk(compute, *chunk, chunk == &chunks.back() ? nullptr : chunk + 1, thread);
  });
}

}  // namespace ferrox
