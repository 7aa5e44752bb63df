// How does a test run a sequence through KV memory as the engine does? A prompt in chunks, then token by token.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "base/thread_pool.h"
#include "kv/contiguous_memory.h"
#include "kv/paged_memory.h"
#include "nn/model.h"
#include "support/model_runner.h"

namespace ferrox::testing {

/// Memory of one kind of storage, as large as the largest request of n_positions takes.
struct KvShape {
  int32_t page_rows = 16;  ///< 0: contiguous
  KvTypes types = DType::kF16;
  int64_t chunk_rows = 16;
  int64_t slide_interval = kSlideInterval;
  PrefixCaching caching = PrefixCaching::kOff;
  int64_t n_requests = 1;  ///< that the store has pages for
};

inline std::unique_ptr<KvMemory> make_kv_memory(const ModelShape& model, const KvShape& shape, int64_t n_positions) {
  const KvLayout layout{model.kv_layers, std::max(shape.page_rows, 1), shape.types.k, shape.types.v,
                        model.state_floats};
  if (shape.page_rows == 0) return *ContiguousMemory::create(layout, n_positions, shape.chunk_rows);
  KvTerms terms = terms_of(layout);
  terms.chunk_rows = shape.chunk_rows;
  terms.slide_interval = shape.slide_interval;
  for (const int64_t n : lease_pages(terms, n_positions, 0)) {
    terms.n_pages.push_back(static_cast<int32_t>(n * shape.n_requests));
  }
  return *PagedMemory::create(layout, terms, shape.caching);
}

/// Runs the rest of `tokens` through `kv`; logits of its positions, [tokens.size()][n_vocab], 0 for those reused.
inline std::vector<float> run_on(Model& model, KvMemory& memory, RequestKv& held, const std::vector<int32_t>& tokens,
                                 int64_t n_prompt, ThreadPool& pool) {
  RequestKv* kv = &held;
  const auto n_vocab = static_cast<size_t>(model.shape().n_vocab);
  const auto n_tokens = static_cast<int64_t>(tokens.size());
  std::vector<float> logits(tokens.size() * n_vocab);
  while (kv->length() < n_tokens) {
    const int64_t first = kv->length();
    const int64_t n_chunk = std::min({memory.terms().chunk_rows, n_prompt - first, kv->most_rows()});
    const int64_t n = first < n_prompt ? n_chunk : 1;
    std::vector<int32_t> rows(static_cast<size_t>(n));
    std::iota(rows.begin(), rows.end(), 0);
    const BatchSegment segment{static_cast<int32_t>(n), first, kv->begin_step(n), kv->state()};
    model.forward({{tokens.data() + first, static_cast<size_t>(n)}, {&segment, 1}, rows}, memory.layers(), pool,
                  logits.data() + static_cast<size_t>(first) * n_vocab);
    kv->end_step(tokens);
  }
  return logits;
}

/// Logits of every position, [tokens.size()][n_vocab], with the first n_prompt tokens as prompt.
inline std::vector<float> run_through(Model& model, KvMemory& memory, const std::vector<int32_t>& tokens,
                                      int64_t n_prompt, ThreadPool& pool) {
  const std::unique_ptr<RequestKv> kv = memory.take(n_prompt, static_cast<int64_t>(tokens.size()) - n_prompt);
  return run_on(model, memory, *kv, tokens, n_prompt, pool);
}

}  // namespace ferrox::testing
