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
  double kv_bytes_per_token = 0;  ///< K and V of one position in all layers, as f16; 0: unknown
  bool is_float = false;          ///< most bytes are floats: the f32 peak is the limit of a prompt, not the int8 peak
};

ModelWork count_work(const GgufFile& file);

}  // namespace ferrox
