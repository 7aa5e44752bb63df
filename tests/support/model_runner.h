// How does a test run a model directly? One sequence, its own pages, any chunking.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_pool.h"
#include "nn/linear.h"
#include "nn/model.h"
#include "tensor/attention_kinds.h"
#include "tensor/kv_type.h"

namespace ferrox::testing {

/// Element types of K and V.
struct KvTypes {
  KvTypes(DType both) : k(both), v(both) {}
  KvTypes(DType k_type, DType v_type) : k(k_type), v(v_type) {}
  DType k;
  DType v;
};

/// K and V pages for one sequence, in a shuffled order so that a wrong page or a wrong kind's table shows.
class SequencePages {
 public:
  SequencePages(const ModelShape& shape, int64_t n_positions, int page_rows, KvTypes types) {
    const int64_t n_pages = (n_positions + page_rows - 1) / page_rows;
    pages_.resize(static_cast<size_t>(attention_kinds(shape.kv_layers).size()));
    for (size_t kind = 0; kind < pages_.size(); ++kind) fill_table(n_pages, kind);
    tables_.assign(pages_.begin(), pages_.end());
    for (const KvLayerShape& layer : shape.kv_layers) {
      KvLayerView view{};
      view.k_type = types.k;
      view.v_type = types.v;
      view.page_rows = page_rows;
      view.n_kv_heads = layer.n_kv_heads;
      view.k_dim = layer.k_dim;
      view.v_dim = layer.v_dim;
      view.k_row_bytes = row_bytes(types.k, layer.k_dim);
      view.v_row_bytes = row_bytes(types.v, layer.v_dim);
      memory_.emplace_back(n_pages * page_rows * layer.n_kv_heads * view.k_row_bytes);
      view.k = memory_.back().data();
      memory_.emplace_back(n_pages * page_rows * layer.n_kv_heads * view.v_row_bytes);
      view.v = memory_.back().data();
      views_.push_back(view);
    }
  }

  std::span<const PageTable> tables() const { return tables_; }  ///< of each attention kind
  std::span<const KvLayerView> views() const { return views_; }

 private:
  static int32_t row_bytes(DType type, int dim) {
    const KvType& stored = *find_kv_type(type);
    return dim / stored.block_elements * stored.block_bytes;
  }

  /// All pages, swapped about; each kind's in an order of its own.
  void fill_table(int64_t n_pages, size_t kind) {
    std::vector<int32_t>& table = pages_[kind];
    table.resize(static_cast<size_t>(n_pages));
    std::iota(table.begin(), table.end(), 0);
    for (size_t i = 0; i + 1 < table.size(); i += 2) std::swap(table[i], table[table.size() - 1 - i]);
    std::rotate(table.begin(), table.begin() + static_cast<ptrdiff_t>(kind % table.size()), table.end());
  }

  std::vector<std::vector<int32_t>> pages_;
  std::vector<PageTable> tables_;
  std::vector<AlignedBuffer<std::byte>> memory_;
  std::vector<KvLayerView> views_;
};

/// Sizes of the chunks that n positions are computed in.
inline std::vector<int32_t> even_chunks(int64_t n, int32_t chunk) {
  std::vector<int32_t> chunks;
  for (int64_t done = 0; done < n; done += chunks.back()) {
    chunks.push_back(static_cast<int32_t>(std::min<int64_t>(chunk, n - done)));
  }
  return chunks;
}

/// Logits of every position, [tokens.size()][n_vocab].
inline std::vector<float> run_sequence(Model& model, const std::vector<int32_t>& tokens,
                                       const std::vector<int32_t>& chunks, int page_rows, KvTypes kv_types,
                                       ThreadPool& pool) {
  const auto n_vocab = static_cast<size_t>(model.shape().n_vocab);
  const SequencePages pages(model.shape(), static_cast<int64_t>(tokens.size()), page_rows, kv_types);
  std::vector<float> state(static_cast<size_t>(model.shape().state_floats));
  std::vector<float> logits(tokens.size() * n_vocab);
  size_t done = 0;
  for (const int32_t n : chunks) {
    std::vector<int32_t> rows(static_cast<size_t>(n));
    std::iota(rows.begin(), rows.end(), 0);
    const BatchSegment segment{n, static_cast<int64_t>(done), pages.tables(), state.data()};
    const Batch batch{{tokens.data() + done, static_cast<size_t>(n)}, {&segment, 1}, rows};
    model.forward(batch, pages.views(), pool, logits.data() + done * n_vocab);
    done += static_cast<size_t>(n);
  }
  return logits;
}

}  // namespace ferrox::testing
