// What do the kernels of recurrent layers work on? Rows of one sequence and a state that they move along.
#pragma once

#include <cstdint>

#include "kernels/kernel_table.h"

namespace ferrox {

/// A causal convolution of each channel along the rows of one sequence:
/// out[row][c] = bias[c] + sum over taps of weights[tap][c] * x[row + tap - (n_taps - 1)][c], taps ascending.
struct ConvolutionArgs {
  const float* x;  ///< [n_rows][n_channels], rows x_stride floats apart; not `out`
  int64_t x_stride;
  float* tail;             ///< [n_taps - 1][n_channels]: the rows before x; left as the rows before what follows x
  const float* weights;    ///< [n_taps][n_channels]
  const float* bias;       ///< [n_channels] or nullptr
  int64_t channel_stride;  ///< floats between rows of tail and of weights
  int64_t n_taps;
  int64_t n_channels;
  int64_t n_rows;
  float* out;  ///< [n_rows][n_channels], rows out_stride floats apart
  int64_t out_stride;
};

/// Floats of a state of `n_states` numbers for each of n_channels channels, [n_channels / 16][n_states][16]: 16
/// channels side by side, those that fill up the last 16 being zeros.
constexpr int64_t lane_state_floats(int64_t n_channels, int64_t n_states) { return round_up_16(n_channels) * n_states; }

/// One head of Mamba 2 (arXiv 2405.21060) on the rows of one sequence, one after the other:
/// state[c][s] = decay * state[c][s] + step * x[c] * b[s]; out[c] = skip * x[c] + sum over s of state[c][s] * c[s].
struct ScanArgs {
  const float* x;  ///< [n_rows][n_channels], rows x_stride floats apart
  int64_t x_stride;
  const float* b;  ///< [n_rows][n_states], rows bc_stride floats apart
  const float* c;
  int64_t bc_stride;
  const float* steps;   ///< [n_rows]
  const float* decays;  ///< [n_rows]
  float skip;
  float* state;  ///< lane_state_floats(n_channels, n_states) floats
  int64_t n_channels;
  int64_t n_states;
  int64_t n_rows;
  float* out;  ///< [n_rows][n_channels], rows out_stride floats apart
  int64_t out_stride;
};

/// Channels of Mamba 1 (arXiv 2312.00752) on the rows of one sequence, one after the other. As in ScanArgs, but each
/// channel has a step of its own, and each of its states a rate that decays it by e^(rate * step).
struct ChannelScanArgs {
  const float* x;  ///< [n_rows][n_channels], rows x_stride floats apart
  int64_t x_stride;
  const float* b;  ///< [n_rows][n_states], rows bc_stride floats apart
  const float* c;
  int64_t bc_stride;
  const float* steps;  ///< [n_rows][n_channels], rows steps_stride floats apart
  int64_t steps_stride;
  const float* rates;  ///< lane_state_floats(n_channels, n_states) floats, laid out like the state
  const float* skip;   ///< [n_channels]
  float* state;        ///< lane_state_floats(n_channels, n_states) floats
  int64_t n_channels;
  int64_t n_states;
  int64_t n_rows;
  float* out;  ///< [n_rows][n_channels], rows out_stride floats apart
  int64_t out_stride;
};

/// One head of the gated delta rule (arXiv 2412.06464) on the rows of one sequence, one after the other. With a state
/// of [k_dim] for each of v_dim channels: state = decay * state; state += k * beta * (v - k . state); out = q . state.
struct DeltaRuleArgs {
  const float* q;  ///< [n_rows][k_dim]
  const float* k;
  const float* v;       ///< [n_rows][v_dim]
  int64_t stride;       ///< floats between rows of q, of k and of v
  const float* decays;  ///< [n_rows]
  const float* betas;   ///< [n_rows]
  float* state;         ///< lane_state_floats(v_dim, k_dim) floats
  int64_t k_dim;
  int64_t v_dim;
  int64_t n_rows;
  float* out;  ///< [n_rows][v_dim], rows out_stride floats apart
  int64_t out_stride;
};

}  // namespace ferrox
