#include "nn/mlp.h"

#include <algorithm>
#include <numeric>

namespace ferrox {
namespace {

/// One row's visit to one expert. Slots are ordered by expert, then row, so that an expert's rows lie together.
struct Slot {
  int64_t row;
  int expert;
  float weight;
};

struct Routing {
  std::vector<Slot> slots;            ///< by expert
  std::vector<int64_t> first_slot;    ///< [n_experts + 1]
  std::vector<int64_t> slots_of_row;  ///< [n_rows][n_used], in order of probability
};

/// Indices of the n_used largest of `probabilities`, descending, ties to the lower index.
std::vector<int> top_experts(std::span<const float> probabilities, int n_used) {
  std::vector<int> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + n_used, order.end(), [&](int a, int b) {
    const float pa = probabilities[static_cast<size_t>(a)];
    const float pb = probabilities[static_cast<size_t>(b)];
    return pa != pb ? pa > pb : a < b;
  });
  order.resize(static_cast<size_t>(n_used));
  return order;
}

Routing route(const Pass& pass, const MoeMlp& mlp) {
  const int64_t n_experts = mlp.gate.n_experts;
  std::vector<Slot> chosen;  // [row][rank]
  for (int64_t row = 0; row < pass.n_rows; ++row) {
    float* probabilities = pass.buffers.router.data() + row * n_experts;
    pass.compute.kernels.softmax(n_experts, probabilities);
    const auto experts = top_experts({probabilities, static_cast<size_t>(n_experts)}, mlp.n_used);
    float total = 0.0f;
    for (const int expert : experts) total += probabilities[expert];
    for (const int expert : experts) chosen.push_back({row, expert, probabilities[expert] / total});
  }
  Routing routing;
  routing.first_slot.assign(static_cast<size_t>(n_experts) + 1, 0);
  for (const Slot& slot : chosen) ++routing.first_slot[static_cast<size_t>(slot.expert) + 1];
  std::partial_sum(routing.first_slot.begin(), routing.first_slot.end(), routing.first_slot.begin());
  std::vector<int64_t> next = routing.first_slot;
  routing.slots.resize(chosen.size());
  for (const Slot& slot : chosen) {
    const int64_t index = next[static_cast<size_t>(slot.expert)]++;
    routing.slots[static_cast<size_t>(index)] = slot;
    routing.slots_of_row.push_back(index);
  }
  return routing;
}

/// gate[row] = silu(gate[row]) * up[row].
void activate(const Pass& pass, int64_t n_rows, int64_t n_ff) {
  float* gate = pass.buffers.gate.data();
  const float* up = pass.buffers.up.data();
  pass.compute.pool.run(n_rows, [&](int64_t row, int) {
    pass.compute.kernels.silu_mul(gate + row * n_ff, up + row * n_ff, n_ff, gate + row * n_ff);
  });
}

/// Sends each expert its rows. Rows of expert e are [first_slot[e], first_slot[e + 1]) of `x` and of every output.
struct ExpertRun {
  const ExpertLinear* experts;
  float* out;
};
void run_experts(const Pass& pass, const Routing& routing, const float* x, int64_t width,
                 std::span<const ExpertRun> runs) {
  std::vector<Linear> linears;
  std::vector<Activations> inputs;
  std::vector<LinearJob> jobs;
  const size_t n_experts = routing.first_slot.size() - 1;
  linears.reserve(n_experts * runs.size());
  inputs.reserve(n_experts);
  ActBlock* blocks = pass.buffers.blocks.data();
  for (size_t e = 0; e < n_experts; ++e) {
    const int64_t first = routing.first_slot[e];
    const int64_t n_rows = routing.first_slot[e + 1] - first;
    if (n_rows == 0) continue;
    inputs.emplace_back(x + first * width, n_rows, width, width, blocks + Activations::n_blocks(first, width));
    for (const ExpertRun& run : runs) {
      linears.push_back(run.experts->expert(static_cast<int64_t>(e)));
      const int64_t n_out = linears.back().n_out;
      jobs.push_back({&linears.back(), &inputs.back(), run.out + first * n_out, n_out});
    }
  }
  run_linear(pass.compute, jobs);
}

}  // namespace

void run_dense_mlp(const Pass& pass, const DenseMlp& mlp, const float* x, float* out) {
  Buffers& buffers = pass.buffers;
  const int64_t n_ff = mlp.gate.n_out;
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  const LinearJob jobs[] = {{&mlp.gate, &input, buffers.gate.data(), n_ff}, {&mlp.up, &input, buffers.up.data(), n_ff}};
  run_linear(pass.compute, jobs);
  activate(pass, pass.n_rows, n_ff);
  Activations hidden(buffers.gate.data(), pass.n_rows, n_ff, n_ff, buffers.blocks.data());
  const LinearJob down{&mlp.down, &hidden, out, pass.n_embd};
  run_linear(pass.compute, {&down, 1});
}

void run_moe_mlp(const Pass& pass, const MoeMlp& mlp, const float* x, float* out) {
  Buffers& buffers = pass.buffers;
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  const LinearJob router{&mlp.router, &input, buffers.router.data(), mlp.router.n_out};
  run_linear(pass.compute, {&router, 1});
  const Routing routing = route(pass, mlp);

  const auto n_slots = static_cast<int64_t>(routing.slots.size());
  float* gathered = buffers.expert_out.data();  // free until the experts' answers are written
  pass.compute.pool.run(n_slots, [&](int64_t i, int) {
    const float* row = x + routing.slots[static_cast<size_t>(i)].row * pass.n_embd;
    std::copy_n(row, pass.n_embd, gathered + i * pass.n_embd);
  });
  const ExpertRun in[] = {{&mlp.gate, buffers.gate.data()}, {&mlp.up, buffers.up.data()}};
  run_experts(pass, routing, gathered, pass.n_embd, in);
  const int64_t n_ff = mlp.gate.first.n_out;
  activate(pass, n_slots, n_ff);
  const ExpertRun down[] = {{&mlp.down, buffers.expert_out.data()}};
  run_experts(pass, routing, buffers.gate.data(), n_ff, down);

  pass.compute.pool.run(pass.n_rows, [&](int64_t row, int) {
    float* sum = out + row * pass.n_embd;
    std::fill_n(sum, pass.n_embd, 0.0f);
    for (int rank = 0; rank < mlp.n_used; ++rank) {
      const int64_t slot = routing.slots_of_row[static_cast<size_t>(row * mlp.n_used + rank)];
      pass.compute.kernels.add_scaled(buffers.expert_out.data() + slot * pass.n_embd,
                                      routing.slots[static_cast<size_t>(slot)].weight, pass.n_embd, sum);
    }
  });
}

}  // namespace ferrox
