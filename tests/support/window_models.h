// Which tiny models have windows? One that slides in every layer, and one that alternates.
#pragma once

#include "support/tiny_model.h"

namespace ferrox::testing {

/// Phi-3: every layer reads `window` positions.
inline TinyFile uniform_window_model(uint32_t window, const TinyModel& like = {}) {
  TinyModel description = like;
  description.architecture = "phi3";
  TinyFile file = tiny_model(description);
  file.keys["phi3.attention.sliding_window"] = window;
  return file;
}

/// Command R7B: three layers of four read `window` positions, the fourth all of them.
inline TinyFile alternating_window_model(uint32_t window, const TinyModel& like = {}) {
  TinyModel description = like;
  description.architecture = "cohere2";
  description.n_layers = 4;
  description.has_output = false;
  TinyFile file = tiny_model(description);
  for (int layer = 0; layer < 4; ++layer) file.remove("blk." + std::to_string(layer) + ".ffn_norm.weight");
  file.keys["cohere2.attention.sliding_window"] = window;
  file.keys["cohere2.attention.layer_norm_epsilon"] = 1e-5f;
  file.keys.erase("cohere2.attention.layer_norm_rms_epsilon");
  file.keys["cohere2.logit_scale"] = 0.25f;
  return file;
}

}  // namespace ferrox::testing
