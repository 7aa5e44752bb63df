#include "tensor/attention_kinds.h"

#include <algorithm>

namespace ferrox {

AttentionKinds attention_kinds(std::span<const KvLayerShape> layers) {
  AttentionKinds kinds;
  for (const KvLayerShape& layer : layers) {
    const auto known = std::find(kinds.windows.begin(), kinds.windows.end(), layer.window);
    kinds.of_layer.push_back(static_cast<int>(known - kinds.windows.begin()));
    if (known == kinds.windows.end()) kinds.windows.push_back(layer.window);
  }
  return kinds;
}

}  // namespace ferrox
