// How does a layer think about one row alone? Through a gated MLP, or through a few of many.
#pragma once

#include "nn/decoder.h"
#include "nn/pass.h"

namespace ferrox {

/// out[row] = down(activation(gate(x[row])) * up(x[row])), or down(activation(up(x[row]))) without a gate; x and out
/// are [n_rows][n_embd].
void run_mlp(const Pass& pass, const DenseMlp& mlp, const float* x, float* out);

/// The same through a few experts of each row, weighted as `mlp.routing` says. Ties go to the lower expert; a row's
/// experts are added in order of probability, then the shared one.
void run_mlp(const Pass& pass, const MoeMlp& mlp, const float* x, float* out);

}  // namespace ferrox
