#include "nn/mlp.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace ferrox {
namespace {

/// One row's visit to one expert. Slots are ordered by expert, then row, so that an expert's rows lie together.
struct Slot {
  int64_t row;
  int expert;
  float weight;
};

struct Visits {
  std::vector<Slot> slots;            ///< by expert
  std::vector<int64_t> first_slot;    ///< [n_experts + 1]
  std::vector<int64_t> slots_of_row;  ///< [n_rows][n_used], in order of probability
};

/// Indices of the n largest of `values`, descending, ties to the lower index.
std::vector<int> largest(std::span<const float> values, int n) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + n, order.end(), [&](int a, int b) {
    const float va = values[static_cast<size_t>(a)];
    const float vb = values[static_cast<size_t>(b)];
    return va != vb ? va > vb : a < b;
  });
  order.resize(static_cast<size_t>(n));
  return order;
}

/// Puts experts of groups that are not used out of the choice.
void keep_best_groups(const Routing& routing, std::span<float> choice) {
  const size_t size = choice.size() / static_cast<size_t>(routing.n_groups);
  std::vector<float> scores;
  for (size_t first = 0; first < choice.size(); first += size) {
    const auto group = choice.subspan(first, size);
    float score = 0.0f;
    for (const int i : largest(group, static_cast<int>(std::min<size_t>(2, size))))
      score += group[static_cast<size_t>(i)];
    scores.push_back(score);
  }
  std::vector<bool> is_used(scores.size(), false);
  for (const int group : largest(scores, routing.n_groups_used)) is_used[static_cast<size_t>(group)] = true;
  for (size_t i = 0; i < choice.size(); ++i) {
    if (!is_used[i / size]) choice[i] = -HUGE_VALF;
  }
}

/// Experts of one row, best first, by what `probabilities` and the choice's bias say.
std::vector<int> choose_experts(const Routing& routing, std::span<const float> probabilities) {
  if (routing.choice_bias.empty() && routing.n_groups == 1) return largest(probabilities, routing.n_used);
  std::vector<float> choice(probabilities.begin(), probabilities.end());
  for (size_t i = 0; i < routing.choice_bias.size(); ++i) choice[i] += routing.choice_bias[i];
  if (routing.n_groups > 1) keep_best_groups(routing, choice);
  return largest(choice, routing.n_used);
}

/// Sums of probabilities below the smallest F16 number are taken for it, as the reference does.
constexpr float kSmallestSum = 6.103515625e-5f;

/// Turns the router's outputs into each row's slots, [row][rank].
std::vector<Slot> choose_slots(const Pass& pass, const MoeMlp& mlp) {
  const Routing& routing = mlp.routing;
  const int64_t n_experts = mlp.up.n_experts;
  std::vector<Slot> chosen;
  for (int64_t row = 0; row < pass.n_rows; ++row) {
    float* probabilities = pass.buffers.router.data() + row * n_experts;
    if (routing.gating == Gating::kSoftmax) pass.compute.kernels.softmax(n_experts, probabilities);
    if (routing.gating == Gating::kSigmoid) pass.compute.kernels.sigmoid(n_experts, probabilities);
    const auto experts = choose_experts(routing, {probabilities, static_cast<size_t>(n_experts)});
    float total = 0.0f;
    for (const int expert : experts) total += probabilities[expert];
    const float divisor = routing.normalised ? std::max(kSmallestSum, total) : 1.0f;
    for (const int expert : experts) chosen.push_back({row, expert, probabilities[expert] / divisor * routing.scale});
  }
  return chosen;
}

Visits route(const Pass& pass, const MoeMlp& mlp) {
  const ProfileScope scope(pass.compute.pool.profile(), "choose experts");
  const std::vector<Slot> chosen = choose_slots(pass, mlp);
  Visits visits;
  visits.first_slot.assign(static_cast<size_t>(mlp.up.n_experts) + 1, 0);
  for (const Slot& slot : chosen) ++visits.first_slot[static_cast<size_t>(slot.expert) + 1];
  std::partial_sum(visits.first_slot.begin(), visits.first_slot.end(), visits.first_slot.begin());
  std::vector<int64_t> next = visits.first_slot;
  visits.slots.resize(chosen.size());
  for (const Slot& slot : chosen) {
    const int64_t index = next[static_cast<size_t>(slot.expert)]++;
    visits.slots[static_cast<size_t>(index)] = slot;
    visits.slots_of_row.push_back(index);
  }
  return visits;
}

enum class Gate : uint8_t { kAbsent, kPresent };

void activate_row(const KernelTable& kernels, Activation activation, const float* gate, const float* up, int64_t n_ff,
                  float* out) {
  switch (activation) {
    case Activation::kSilu:
      return kernels.silu_mul(gate, up, n_ff, out);
    case Activation::kGelu:
      return kernels.gelu_mul(gate, up, n_ff, out);
    case Activation::kClampedSilu:
      return kernels.clamped_silu_mul(gate, up, n_ff, out);
  }
}

/// gate[row] = activation(gate[row]) * up[row], or activation(gate[row]) where up went to gate's place.
void activate(const Pass& pass, Activation activation, Gate has_gate, int64_t n_rows, int64_t n_ff) {
  const ProfileScope scope(pass.compute.pool.profile(), "activation");
  add_work(pass.compute.pool.profile(), {.f32_operations = 5.0 * static_cast<double>(n_rows * n_ff)});
  float* gate = pass.buffers.gate.data();
  const float* up = pass.buffers.up.data();
  pass.compute.pool.run(n_rows, [&](int64_t row, int) {
    float* out = gate + row * n_ff;
    if (has_gate == Gate::kPresent) {
      activate_row(pass.compute.kernels, activation, out, up + row * n_ff, n_ff, out);
    } else {
      CHECK(activation == Activation::kGelu, "MLPs without gate have this activation");
      pass.compute.kernels.gelu(n_ff, out);
    }
  });
}

void divide_rows(const Pass& pass, const std::vector<float>& divisors, float* rows) {
  if (divisors.empty()) return;
  pass.compute.pool.run(pass.n_rows, [&](int64_t row, int) {
    float* values = rows + row * static_cast<int64_t>(divisors.size());
    for (size_t i = 0; i < divisors.size(); ++i) values[i] /= divisors[i];
  });
}

/// Sends each expert its rows. Rows of expert e are [first_slot[e], first_slot[e + 1]) of `x` and of every output.
struct ExpertRun {
  const ExpertLinear* experts;
  float* out;
};
void run_experts(const Pass& pass, const char* name, const Visits& routing, const float* x, int64_t width,
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
  project(pass, name, jobs);
}

/// shared[row] = the shared expert's answer, weighted by its gate; [n_rows][n_embd].
void run_shared(const Pass& pass, const MoeMlp& mlp, const float* x, float* shared) {
  const ProfileScope scope(pass.compute.pool.profile(), "shared expert");
  run_mlp(pass, mlp.shared, x, shared);
  if (!mlp.shared_gate) return;
  float* gates = shared + pass.n_rows * pass.n_embd;
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, pass.buffers.blocks.data());
  const LinearJob gate{&mlp.shared_gate, &input, gates, 1};
  project(pass, "shared gate", {&gate, 1});
  pass.compute.pool.run(pass.n_rows, [&](int64_t row, int) {
    pass.compute.kernels.sigmoid(1, gates + row);
    pass.compute.kernels.scale(gates[row], pass.n_embd, shared + row * pass.n_embd);
  });
}

/// out[row] = the answers in expert_out of the row's experts, weighted.
void add_answers(const Pass& pass, const Visits& visits, int n_used, float* out) {
  const ProfileScope scope(pass.compute.pool.profile(), "add experts");
  pass.compute.pool.run(pass.n_rows, [&](int64_t row, int) {
    float* sum = out + row * pass.n_embd;
    std::fill_n(sum, pass.n_embd, 0.0f);
    for (int rank = 0; rank < n_used; ++rank) {
      const int64_t slot = visits.slots_of_row[static_cast<size_t>(row * n_used + rank)];
      pass.compute.kernels.add_scaled(pass.buffers.expert_out.data() + slot * pass.n_embd,
                                      visits.slots[static_cast<size_t>(slot)].weight, pass.n_embd, sum);
    }
  });
}

}  // namespace

void run_mlp(const Pass& pass, const DenseMlp& mlp, const float* x, float* out) {
  Buffers& buffers = pass.buffers;
  const int64_t n_ff = mlp.up.n_out;
  const Gate has_gate = mlp.gate ? Gate::kPresent : Gate::kAbsent;
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  if (has_gate == Gate::kPresent) {
    const LinearJob jobs[] = {{&mlp.gate, &input, buffers.gate.data(), n_ff},
                              {&mlp.up, &input, buffers.up.data(), n_ff}};
    project(pass, "gate up", jobs);
  } else {
    const LinearJob job{&mlp.up, &input, buffers.gate.data(), n_ff};
    project(pass, "up", {&job, 1});
  }
  activate(pass, mlp.activation, has_gate, pass.n_rows, n_ff);
  divide_rows(pass, mlp.hidden_divisors, buffers.gate.data());
  Activations hidden(buffers.gate.data(), pass.n_rows, n_ff, n_ff, buffers.blocks.data());
  const LinearJob down{&mlp.down, &hidden, out, pass.n_embd};
  project(pass, "down", {&down, 1});
}

void run_mlp(const Pass& pass, const MoeMlp& mlp, const float* x, float* out) {
  Buffers& buffers = pass.buffers;
  if (mlp.shared) run_shared(pass, mlp, x, buffers.shared.data());
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  const LinearJob router{&mlp.router, &input, buffers.router.data(), mlp.router.n_out};
  project(pass, "router", {&router, 1});
  const Visits visits = route(pass, mlp);

  const auto n_slots = static_cast<int64_t>(visits.slots.size());
  float* gathered = buffers.expert_out.data();  // free until the experts' answers are written
  pass.compute.pool.run(n_slots, [&](int64_t i, int) {
    const float* row = x + visits.slots[static_cast<size_t>(i)].row * pass.n_embd;
    std::copy_n(row, pass.n_embd, gathered + i * pass.n_embd);
  });
  const ExpertRun in[] = {{&mlp.gate, buffers.gate.data()}, {&mlp.up, buffers.up.data()}};
  run_experts(pass, "gate up", visits, gathered, pass.n_embd, in);
  const int64_t n_ff = mlp.up.first.n_out;
  activate(pass, mlp.activation, Gate::kPresent, n_slots, n_ff);
  const ExpertRun down[] = {{&mlp.down, buffers.expert_out.data()}};
  run_experts(pass, "down", visits, buffers.gate.data(), n_ff, down);
  add_answers(pass, visits, mlp.routing.n_used, out);
  if (mlp.shared) add_rows(pass.compute, buffers.shared.data(), 1.0f, pass.n_rows, pass.n_embd, out);
}

}  // namespace ferrox
