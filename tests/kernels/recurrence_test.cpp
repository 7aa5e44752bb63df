// Do the kernels of recurrent layers equal their formulas, with the same bits in every instruction set, however a text
// is cut, and without touching a byte past their rows?
#include "kernels/recurrence_args.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/guarded_memory.h"
#include "kernels/rounding.h"
#include "kernels/supported_isas.h"
#include "support/random_weights.h"

namespace ferrox {
namespace {

using testing::Guarded;
using testing::kHalfUlp;
using testing::random_floats;
using Floats = std::vector<float>;

/// A number in double precision and the sum of the sizes that it is made of, by which roundings are judged.
struct Sum {
  double value = 0;
  double size = 0;

  void add(double term) {
    value += term;
    size += std::abs(term);
  }
  void decay(double factor) {
    value *= factor;
    size *= std::abs(factor);
  }
};

/// What a run leaves: its rows, and its state.
struct Left {
  Floats out;
  Floats state;
  bool operator==(const Left&) const = default;
};

Floats part_of(const Floats& rows, int64_t first, int64_t n) {
  return {rows.begin() + first, rows.begin() + first + n};
}

/// Numbers of a row of [n_rows][width] rows, from `first` row on.
Floats rows_of(const Floats& all, int64_t width, int64_t first, int64_t n) {
  return part_of(all, first * width, n * width);
}

/// Runs `run(table, first row, n rows, state in)` on every table, whole and cut into chunks, and expects one result.
template <class Run>
Left expect_one_result(int64_t n_rows, const Floats& state, const Run& run) {
  const auto tables = testing::supported_isas();
  const Left whole = run(*tables.front(), 0, n_rows, state);
  for (const KernelTable* table : tables) {
    EXPECT_EQ(run(*table, 0, n_rows, state), whole) << table->name;
    for (const int64_t chunk : {1, 3}) {
      Left cut{{}, state};
      for (int64_t row = 0; row < n_rows; row += chunk) {
        const Left part = run(*table, row, std::min(chunk, n_rows - row), cut.state);
        cut.out.insert(cut.out.end(), part.out.begin(), part.out.end());
        cut.state = part.state;
      }
      EXPECT_EQ(cut, whole) << table->name << " in chunks of " << chunk;
    }
  }
  return whole;
}

void expect_near(const Floats& got, const std::vector<Sum>& want, double n_roundings) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i].value, want[i].size * n_roundings * kHalfUlp + 1e-37) << "element " << i;
  }
}

void judge_convolution(int64_t n_rows, int64_t n_channels, int64_t n_taps, bool has_bias) {
  const int64_t n_before = n_taps - 1;
  const Floats x = random_floats(n_rows * n_channels, 1.0f, 1);
  const Floats weights = random_floats(n_taps * n_channels, 1.0f, 2);
  const Floats bias = random_floats(n_channels, 1.0f, 3);
  const Floats tail = random_floats(n_before * n_channels, 1.0f, 4);
  const auto run = [&](const KernelTable& table, int64_t first, int64_t n, const Floats& before) {
    const Guarded<float> in(rows_of(x, n_channels, first, n));
    const Guarded<float> state(before);
    const Guarded<float> guarded_weights(weights);
    const Guarded<float> guarded_bias(bias);
    const Guarded<float> out(static_cast<size_t>(n * n_channels));
    table.convolve({in.data(), n_channels, state.data(), guarded_weights.data(),
                    has_bias ? guarded_bias.data() : nullptr, n_channels, n_taps, n_channels, n, out.data(),
                    n_channels});
    return Left{out.copy(), state.copy()};
  };
  const Left left = expect_one_result(n_rows, tail, run);
  Floats all = tail;
  all.insert(all.end(), x.begin(), x.end());
  std::vector<Sum> want;
  for (int64_t row = 0; row < n_rows; ++row) {
    for (int64_t channel = 0; channel < n_channels; ++channel) {
      Sum& sum = want.emplace_back();
      if (has_bias) sum.add(bias[static_cast<size_t>(channel)]);
      for (int64_t tap = 0; tap < n_taps; ++tap) {
        sum.add(double{weights[static_cast<size_t>(tap * n_channels + channel)]} *
                all[static_cast<size_t>((row + tap) * n_channels + channel)]);
      }
    }
  }
  expect_near(left.out, want, static_cast<double>(n_taps));
  EXPECT_EQ(left.state, part_of(all, n_rows * n_channels, n_before * n_channels)) << "the last rows";
}

TEST(Recurrence, ConvolutionsEqualTheirFormula) {
  for (const int64_t n_channels : {1, 15, 16, 33, 70}) {
    for (const int64_t n_taps : {2, 3, 4, 7}) {
      for (const int64_t n_rows : {1, 2, 9}) {
        SCOPED_TRACE(std::to_string(n_channels) + " channels, " + std::to_string(n_taps) + " taps");
        judge_convolution(n_rows, n_channels, n_taps, n_rows % 2 == 1);
      }
    }
  }
}

/// state[i] of channel c, as lane_state_floats lays it out.
size_t lane_index(int64_t channel, int64_t i, int64_t n_states) {
  return static_cast<size_t>((channel / 16 * n_states + i) * 16 + channel % 16);
}

/// A state whose channels past n_channels are zeros.
Floats random_state(int64_t n_channels, int64_t n_states, uint32_t seed) {
  const Floats values = random_floats(n_channels * n_states, 1.0f, seed);
  Floats state(static_cast<size_t>(lane_state_floats(n_channels, n_states)));
  for (int64_t c = 0; c < n_channels; ++c) {
    for (int64_t i = 0; i < n_states; ++i)
      state[lane_index(c, i, n_states)] = values[static_cast<size_t>(c * n_states + i)];
  }
  return state;
}

Floats between_0_and_1(int64_t n, uint32_t seed) {
  Floats values = random_floats(n, 1.0f, seed);
  for (float& value : values) value = 1.0f / (1.0f + std::exp(value));
  return values;
}

/// A state of sums in the layout of floats, and back to compare.
std::vector<Sum> sums_of(const Floats& state) {
  std::vector<Sum> sums;
  for (const float value : state) sums.push_back({value, std::abs(value)});
  return sums;
}

void judge_scan(int64_t n_channels, int64_t n_states) {
  constexpr int64_t kRows = 7;
  constexpr float kSkip = 0.7f;
  const Floats x = random_floats(kRows * n_channels, 1.0f, 1);
  const Floats b = random_floats(kRows * n_states, 1.0f, 2);
  const Floats c = random_floats(kRows * n_states, 1.0f, 3);
  const Floats steps = between_0_and_1(kRows, 4);
  const Floats decays = between_0_and_1(kRows, 5);
  const Floats start = random_state(n_channels, n_states, 6);
  const auto run = [&](const KernelTable& table, int64_t first, int64_t n, const Floats& before) {
    const Guarded<float> in(rows_of(x, n_channels, first, n));
    const Guarded<float> bs(rows_of(b, n_states, first, n));
    const Guarded<float> cs(rows_of(c, n_states, first, n));
    const Guarded<float> state(before);
    const Guarded<float> out(static_cast<size_t>(n * n_channels));
    table.scan({in.data(), n_channels, bs.data(), cs.data(), n_states, steps.data() + first, decays.data() + first,
                kSkip, state.data(), n_channels, n_states, n, out.data(), n_channels});
    return Left{out.copy(), state.copy()};
  };
  const Left left = expect_one_result(kRows, start, run);
  std::vector<Sum> state = sums_of(start);
  std::vector<Sum> want;
  for (size_t row = 0; row < kRows; ++row) {
    for (int64_t channel = 0; channel < n_channels; ++channel) {
      const double input = x[row * static_cast<size_t>(n_channels) + static_cast<size_t>(channel)];
      Sum& sum = want.emplace_back();
      sum.add(input * kSkip);
      for (int64_t i = 0; i < n_states; ++i) {
        const size_t at = row * static_cast<size_t>(n_states) + static_cast<size_t>(i);
        Sum& held = state[lane_index(channel, i, n_states)];
        held.decay(decays[row]);
        held.add(input * steps[row] * b[at]);
        sum.value += held.value * c[at];
        sum.size += held.size * std::abs(c[at]);
      }
    }
  }
  const double n_roundings = 3.0 * kRows + static_cast<double>(n_states) + 3;
  expect_near(left.out, want, n_roundings);
  expect_near(left.state, state, n_roundings);
}

TEST(Recurrence, ScansEqualTheirFormula) {
  for (const int64_t n_channels : {1, 16, 20, 64}) {
    for (const int64_t n_states : {1, 3, 8, 16, 19}) {
      SCOPED_TRACE(std::to_string(n_channels) + " channels of " + std::to_string(n_states));
      judge_scan(n_channels, n_states);
    }
  }
}

void judge_channel_scan(int64_t n_channels, int64_t n_states) {
  constexpr int64_t kRows = 7;
  const Floats x = random_floats(kRows * n_channels, 1.0f, 1);
  const Floats b = random_floats(kRows * n_states, 1.0f, 2);
  const Floats c = random_floats(kRows * n_states, 1.0f, 3);
  const Floats steps = between_0_and_1(kRows * n_channels, 4);
  Floats rates = random_state(n_channels, n_states, 5);
  for (float& rate : rates) rate = -std::abs(rate);
  const Floats skip = random_floats(n_channels, 1.0f, 7);
  const Floats start = random_state(n_channels, n_states, 6);
  const auto run = [&](const KernelTable& table, int64_t first, int64_t n, const Floats& before) {
    const Guarded<float> in(rows_of(x, n_channels, first, n));
    const Guarded<float> in_steps(rows_of(steps, n_channels, first, n));
    const Guarded<float> bs(rows_of(b, n_states, first, n));
    const Guarded<float> cs(rows_of(c, n_states, first, n));
    const Guarded<float> guarded_skip(skip);
    const Guarded<float> state(before);
    const Guarded<float> out(static_cast<size_t>(n * n_channels));
    table.scan_channels({in.data(), n_channels, bs.data(), cs.data(), n_states, in_steps.data(), n_channels,
                         rates.data(), guarded_skip.data(), state.data(), n_channels, n_states, n, out.data(),
                         n_channels});
    return Left{out.copy(), state.copy()};
  };
  const Left left = expect_one_result(kRows, start, run);
  std::vector<Sum> state = sums_of(start);
  std::vector<Sum> want;
  for (size_t row = 0; row < kRows; ++row) {
    for (int64_t channel = 0; channel < n_channels; ++channel) {
      const size_t in_row = row * static_cast<size_t>(n_channels) + static_cast<size_t>(channel);
      Sum& sum = want.emplace_back();
      sum.add(double{x[in_row]} * skip[static_cast<size_t>(channel)]);
      for (int64_t i = 0; i < n_states; ++i) {
        const size_t at = row * static_cast<size_t>(n_states) + static_cast<size_t>(i);
        Sum& held = state[lane_index(channel, i, n_states)];
        held.decay(std::exp(double{steps[in_row]} * rates[lane_index(channel, i, n_states)]));
        held.add(double{x[in_row]} * steps[in_row] * b[at]);
        sum.value += held.value * c[at];
        sum.size += held.size * std::abs(c[at]);
      }
    }
  }
  const double n_roundings = 8.0 * kRows + static_cast<double>(n_states) + 3;  // e^x is within four roundings
  expect_near(left.out, want, n_roundings);
  expect_near(left.state, state, n_roundings);
}

TEST(Recurrence, ScansOfChannelsEqualTheirFormula) {
  for (const int64_t n_channels : {1, 16, 37}) {
    for (const int64_t n_states : {1, 3, 16}) {
      SCOPED_TRACE(std::to_string(n_channels) + " channels of " + std::to_string(n_states));
      judge_channel_scan(n_channels, n_states);
    }
  }
}

/// Keys of length 1, as layers bring them: a longer one would let the state grow without bound.
Floats unit_rows(int64_t n_rows, int64_t width, uint32_t seed) {
  Floats rows = random_floats(n_rows * width, 1.0f, seed);
  for (int64_t row = 0; row < n_rows; ++row) {
    double length = 0;
    for (int64_t i = 0; i < width; ++i) length += std::pow(rows[static_cast<size_t>(row * width + i)], 2.0);
    for (int64_t i = 0; i < width; ++i)
      rows[static_cast<size_t>(row * width + i)] /= static_cast<float>(std::sqrt(length));
  }
  return rows;
}

void judge_delta_rule(int64_t v_dim, int64_t k_dim) {
  constexpr int64_t kRows = 7;
  const int64_t width = 2 * k_dim + v_dim;
  const Floats q = unit_rows(kRows, k_dim, 1);
  const Floats k = unit_rows(kRows, k_dim, 2);
  const Floats v = random_floats(kRows * v_dim, 1.0f, 3);
  Floats rows;  // q, k and v of a row side by side, as convolutions leave them
  for (int64_t row = 0; row < kRows; ++row) {
    for (const auto& [values, n] : {std::pair{&q, k_dim}, {&k, k_dim}, {&v, v_dim}}) {
      const Floats part = rows_of(*values, n, row, 1);
      rows.insert(rows.end(), part.begin(), part.end());
    }
  }
  const Floats betas = between_0_and_1(kRows, 4);
  const Floats decays = between_0_and_1(kRows, 5);
  const Floats start = random_state(v_dim, k_dim, 6);
  const auto run = [&](const KernelTable& table, int64_t first, int64_t n, const Floats& before) {
    const Guarded<float> in(rows_of(rows, width, first, n));
    const Guarded<float> state(before);
    const Guarded<float> out(static_cast<size_t>(n * v_dim));
    table.delta_rule({in.data(), in.data() + k_dim, in.data() + 2 * k_dim, width, decays.data() + first,
                      betas.data() + first, state.data(), k_dim, v_dim, n, out.data(), v_dim});
    return Left{out.copy(), state.copy()};
  };
  const Left left = expect_one_result(kRows, start, run);
  std::vector<Sum> state = sums_of(start);
  std::vector<Sum> want;
  for (size_t row = 0; row < kRows; ++row) {
    for (int64_t channel = 0; channel < v_dim; ++channel) {
      const float* qs = q.data() + row * static_cast<size_t>(k_dim);
      const float* ks = k.data() + row * static_cast<size_t>(k_dim);
      const double value = v[row * static_cast<size_t>(v_dim) + static_cast<size_t>(channel)];
      Sum error{value, std::abs(value)};
      for (int64_t i = 0; i < k_dim; ++i) {
        Sum& held = state[lane_index(channel, i, k_dim)];
        held.decay(decays[row]);
        error.value -= held.value * ks[i];
        error.size += held.size * std::abs(ks[i]);
      }
      Sum& sum = want.emplace_back();
      for (int64_t i = 0; i < k_dim; ++i) {
        Sum& held = state[lane_index(channel, i, k_dim)];
        held.value += betas[row] * error.value * ks[i];
        held.size += betas[row] * error.size * std::abs(ks[i]);
        sum.value += held.value * qs[i];
        sum.size += held.size * std::abs(qs[i]);
      }
    }
  }
  const double n_roundings = kRows * (static_cast<double>(k_dim) + 8);
  expect_near(left.out, want, n_roundings);
  expect_near(left.state, state, n_roundings);
}

TEST(Recurrence, DeltaRulesEqualTheirFormula) {
  for (const int64_t v_dim : {1, 16, 40}) {
    for (const int64_t k_dim : {1, 3, 4, 10, 64}) {
      SCOPED_TRACE(std::to_string(v_dim) + " channels of " + std::to_string(k_dim));
      judge_delta_rule(v_dim, k_dim);
    }
  }
}

TEST(Recurrence, DecaysFollowTheirSteps) {
  for (const int64_t n : {1, 15, 16, 50}) {
    const Floats raw = random_floats(n, 5.0f, static_cast<uint32_t>(n));
    const auto run = [&](const KernelTable& table, int64_t first, int64_t count, const Floats&) {
      const Guarded<float> steps(part_of(raw, first, count));
      const Guarded<float> decays(static_cast<size_t>(count));
      table.find_decays(0.3f, -1.7f, count, steps.data(), decays.data());
      Left left{steps.copy(), {}};
      const Floats decayed = decays.copy();
      for (size_t i = 0; i < decayed.size(); ++i) {
        EXPECT_NEAR(decayed[i], std::exp(-1.7 * left.out[i]), 1e-6) << "step " << left.out[i];
      }
      return left;
    };
    const Left left = expect_one_result(n, {}, run);
    for (size_t i = 0; i < raw.size(); ++i) {
      const double step = std::log1p(std::exp(raw[i] + double{0.3f}));
      EXPECT_NEAR(left.out[i], step, step * 1e-6) << "from " << raw[i];
    }
  }
}

}  // namespace
}  // namespace ferrox
