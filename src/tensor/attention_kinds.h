// Which layers share page tables? Those that read the same window: they are one attention kind.
#pragma once

#include <span>
#include <vector>

#include "tensor/kv_view.h"

namespace ferrox {

/// The attention kinds of a model, in order of first appearance. A sequence has one page table per kind; a page of a
/// kind stands for the same page in the store of each of its layers.
struct AttentionKinds {
  std::vector<int> windows;   ///< of each kind: trailing positions read; 0: all
  std::vector<int> of_layer;  ///< the kind of each layer

  int size() const { return static_cast<int>(windows.size()); }
};

AttentionKinds attention_kinds(std::span<const KvLayerShape> layers);

}  // namespace ferrox
