// How does a layer think about one row alone? Through a gated MLP, or through a few of many.
#pragma once

#include "nn/decoder.h"
#include "nn/pass.h"

namespace ferrox {

/// out[row] = down(silu(gate(x[row])) * up(x[row])); x and out are [n_rows][n_embd].
void run_dense_mlp(const Pass& pass, const DenseMlp& mlp, const float* x, float* out);

/// The same through the n_used most probable experts of each row, weighted by their probabilities, which are scaled to
/// add up to 1. Ties go to the lower expert; a row's experts are added in order of probability.
void run_moe_mlp(const Pass& pass, const MoeMlp& mlp, const float* x, float* out);

}  // namespace ferrox
