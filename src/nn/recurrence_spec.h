// What is a recurrent layer? Descriptions that family files fill in. All that such a layer knows of the rows before is
// a state of fixed size.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "nn/weights.h"

namespace ferrox {

/// A causal convolution of each channel by itself, over a row and the n_taps - 1 before it. State: those rows.
struct ShortConvolution {
  std::vector<float> weights;  ///< [n_taps][n_channels], the oldest row's first
  std::vector<float> bias;     ///< [n_channels] or empty
  int64_t n_taps = 0;          ///< at least 2
  int64_t n_channels = 0;
};

/// LFM2's: out(c * convolution(b * x)), where `in` gives b, c and x, each of n_channels.
struct GatedConvolution {
  Linear in;  ///< n_embd -> 3 * n_channels
  ShortConvolution convolution;
  Linear out;  ///< n_channels -> n_embd
};

/// Mamba 2 (arXiv 2405.21060). `in` gives a gate z of n_heads * head_dim; x of that width, b and c of n_groups *
/// n_states each, which are convolved together and go through SiLU; and a step for each head. Head h reads b and c of
/// group h * n_groups / n_heads. out(norm(silu(z) * scanned)).
struct SelectiveScan {
  Linear in;  ///< n_embd -> 2 * n_heads * head_dim + 2 * n_groups * n_states + n_heads
  ShortConvolution convolution;
  std::vector<float> step_bias;  ///< [n_heads], before softplus
  std::vector<float> rate;       ///< [n_heads]: a step of s decays the state by e^(rate * s)
  std::vector<float> skip;       ///< [n_heads]: what of x goes past the state
  Norm norm;                     ///< of [n_heads * head_dim], each group by itself; may be absent
  Linear out;                    ///< n_heads * head_dim -> n_embd
  int64_t n_heads = 0;
  int64_t head_dim = 0;
  int64_t n_groups = 0;
  int64_t n_states = 0;

  int64_t n_inner() const { return n_heads * head_dim; }
};

/// The gated delta rule (arXiv 2412.06464). Value head h reads q and k of head h * n_k_heads / n_v_heads, each
/// normalised to length 1, q then divided by sqrt(k_dim). out(norm(learned) * silu(z)), head by head.
struct DeltaRule {
  Linear qkv;        ///< n_embd -> 2 * n_k_heads * k_dim + n_v_heads * v_dim: q, k, v
  Linear z;          ///< n_embd -> n_v_heads * v_dim
  Linear beta_step;  ///< n_embd -> 2 * n_v_heads: for each k head the betas, then the steps of its value heads
  ShortConvolution convolution;  ///< of q, k and v, followed by SiLU
  std::vector<float> step_bias;  ///< [n_v_heads], before softplus
  std::vector<float> rate;       ///< [n_v_heads]: a step of s decays the state by e^(rate * s)
  Norm norm;                     ///< [v_dim]
  Linear out;                    ///< n_v_heads * v_dim -> n_embd
  float length_epsilon = 0.0f;   ///< vectors of q and k shorter than this are divided by it
  int64_t n_k_heads = 0;
  int64_t n_v_heads = 0;
  int64_t k_dim = 0;
  int64_t v_dim = 0;

  int64_t qkv_width() const { return 2 * n_k_heads * k_dim + n_v_heads * v_dim; }
};

/// monostate: the layer has none.
using Recurrence = std::variant<std::monostate, GatedConvolution, SelectiveScan, DeltaRule>;

inline bool is_present(const Recurrence& recurrence) { return recurrence.index() != 0; }

/// f32 numbers of one sequence's state.
int64_t state_floats(const ShortConvolution& convolution);
int64_t state_floats(const Recurrence& recurrence);

/// Floats a row that a recurrence needs while it runs.
struct RecurrenceWidths {
  int64_t projected = 0;  ///< what comes out of its first matrices
  int64_t convolved = 0;  ///< channels of its convolution
  int64_t steps = 0;      ///< numbers of its heads
  int64_t inner = 0;      ///< what goes into its last matrix
};
RecurrenceWidths widths_of(const Recurrence& recurrence);

}  // namespace ferrox
