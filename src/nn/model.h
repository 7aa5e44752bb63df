// What does a loaded model do? One thing: a forward pass over a ragged batch of rows of many sequences.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/kv_view.h"

namespace ferrox {

class ThreadPool;

/// Consecutive rows of one sequence inside a batch. Row i of the segment is position first_position + i; its K and V
/// are written to `pages` by the pass, and it attends to positions 0 .. its own, or to the trailing ones of the layer's
/// window. Recurrent layers read and replace `state` instead: a copy of it is all they know of the rows before.
struct BatchSegment {
  int32_t n_rows;
  int64_t first_position;
  std::span<const PageTable> pages;  ///< one per attention kind, covering first_position + n_rows positions at least
  float* state = nullptr;  ///< [ModelShape::state_floats], this sequence's alone: zeros before position 0, left as it
                           ///< is after the segment's last row
};

/// Prompt, decode, verification and embedding rows alike. Rows of segment s follow those of segment s - 1.
struct Batch {
  std::span<const int32_t> tokens;         ///< [n_rows], each below n_vocab
  std::span<const BatchSegment> segments;  ///< their n_rows add up to tokens.size()
  std::span<const int32_t> logit_rows;     ///< rows whose logits are wanted, ascending
  std::function<bool()> is_given_up = {};  ///< asked between the parts of each layer: true ends the pass there
};

/// What the rest of the program must know about a model before it runs.
struct ModelShape {
  std::string architecture;
  std::string name;  ///< general.name, or empty
  int32_t n_vocab = 0;
  int32_t n_embd = 0;
  int32_t n_layers = 0;
  int64_t context_length = 0;           ///< positions it was trained for
  std::vector<KvLayerShape> kv_layers;  ///< one per layer that keeps K and V, in order
  int64_t state_floats = 0;             ///< f32 numbers of a sequence's recurrent state over all layers; 0: none
  uint64_t n_parameters = 0;
  uint64_t weight_bytes = 0;
};

/// A model of any family. Weights are read in place from the file, which outlives it.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelShape& shape() const = 0;

  /// The most rows a batch may have, given when the scratch was sized.
  virtual int32_t max_batch_rows() const = 0;

  /// Bytes of scratch that are held once batches of max_batch_rows() have run on n_threads threads.
  virtual uint64_t scratch_bytes(int n_threads) const = 0;

  /// Runs the batch on the pool. kv[i] is the store of shape().kv_layers[i].
  /// logits: [logit_rows.size()][n_vocab], row-major. A row's logits depend only on its sequence's tokens and
  /// positions: never on the other rows, on chunking or on the number of threads, to the bit.
  /// False: the batch was given up. Its logits, its rows of K and V and the states of its segments are then undefined.
  virtual bool forward(const Batch& batch, std::span<const KvLayerView> kv, ThreadPool& pool, float* logits) = 0;
};

}  // namespace ferrox
