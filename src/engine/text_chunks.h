// How is a text put to a model to be predicted? In chunks; of each, the second half is predicted from all before it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/evaluator.h"

namespace ferrox {

/// n_chunks runs of `context` tokens, one after the other. Tokens at places context / 2 + 1 and later of a chunk are
/// scored, each by the row of logits before it: none is judged with less than half a context to go by.
struct TextChunks {
  std::vector<int32_t> tokens;  ///< [n_chunks][context]
  int64_t context = 0;
  int64_t n_chunks = 0;

  std::span<const int32_t> chunk(int64_t index) const;
  int64_t first_row() const { return context / 2; }               ///< of a chunk's rows that score a token
  int64_t n_scored() const { return context - 1 - context / 2; }  ///< tokens of a chunk
};

/// Cuts whole chunks off the front of `tokens`, at most max_chunks (0: all). Errors: a context below 4 tokens; a text
/// shorter than one chunk.
Result<TextChunks> cut_chunks(std::vector<int32_t> tokens, int64_t context, int64_t max_chunks);

/// Consecutive rows of logits and the tokens that followed them.
struct PredictedRows {
  int64_t chunk;
  int64_t first;                  ///< place of the first row among the chunk's n_scored()
  std::span<const float> logits;  ///< [targets.size()][n_vocab]
  std::span<const int32_t> targets;
};

/// Runs the chunks through sequence 0, which has room for one. Each begins with `bos`, when
/// given, in place of its first token. `take` is called for the rows of each chunk in order; its errors end the work.
Result<void> predict_chunks(Evaluator& evaluator, const TextChunks& chunks, std::optional<int32_t> bos,
                            const std::function<Result<void>(const PredictedRows&)>& take);

}  // namespace ferrox
