// How does a layer attend? Project, rotate, store K and V in the pages, score and weigh.
#pragma once

#include "nn/decoder.h"
#include "nn/pass.h"

namespace ferrox {

/// One layer's KV memory.
struct LayerKv {
  const KvLayerShape& shape;
  const KvLayerView& view;
  int kind;  ///< attention kind: which of a segment's page tables is this layer's
};

/// out[row] = attention(x[row]); x and out are [n_rows][n_embd]. Writes each row's K and V to its page.
void run_attention(const Pass& pass, const Attention& attention, const LayerKv& kv, const float* x, float* out);

}  // namespace ferrox
