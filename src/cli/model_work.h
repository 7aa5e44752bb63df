// How much work is one token, read off the file's tensors? For a measurement's share of what the machine can do.
#pragma once

#include <cstdint>
#include <optional>

#include "gguf/gguf_file.h"

namespace ferrox {

/// Matrix products alone: attention, norms and sampling come on top. Of experts only those that a token is sent to.
struct ModelWork {
  double layer_weights = 0;  ///< weights that a token is multiplied with in all layers
  double logit_weights = 0;  ///< and in the output matrix
  double layer_bytes = 0;    ///< what those weights take in memory
  double logit_bytes = 0;
  double expert_bytes = 0;        ///< of all experts, whichever a token is sent to
  double expert_share = 1;        ///< of the experts, those that one token is sent to
  double kv_bytes_per_token = 0;  ///< K and V of one position in all layers, as f16; 0: unknown
  bool is_float = false;          ///< most bytes are floats: the f32 peak is the limit of a prompt, not the int8 peak
};

ModelWork count_work(const GgufFile& file);

/// Bytes of weights that a step of n_rows tokens reads: of experts those that at least one of them is sent to, on
/// average, if each token chooses evenly.
double step_weight_bytes(const ModelWork& work, double n_rows);

}  // namespace ferrox
