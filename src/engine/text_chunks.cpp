#include "engine/text_chunks.h"

#include <algorithm>

namespace ferrox {
namespace {

constexpr int64_t kShortestContext = 4;
/// Rows whose logits are kept at once: as fast as more, and 64 MiB of a vocabulary of 128k.
constexpr int64_t kRowsAtOnce = 128;

Result<void> predict_chunk(Evaluator& evaluator, const TextChunks& chunks, int64_t index, std::optional<int32_t> bos,
                           const std::function<Result<void>(const PredictedRows&)>& take) {
  const auto whole = chunks.chunk(index);
  std::vector<int32_t> tokens(whole.begin(), whole.end());
  if (bos) tokens.front() = *bos;
  const std::span<const int32_t> input(tokens);
  evaluator.truncate(0);
  TRY(evaluator.append(input.first(static_cast<size_t>(chunks.first_row())), Evaluator::Logits::kNone));
  for (int64_t done = 0; done < chunks.n_scored(); done += kRowsAtOnce) {
    const auto n = static_cast<size_t>(std::min(kRowsAtOnce, chunks.n_scored() - done));
    const auto first = static_cast<size_t>(chunks.first_row() + done);
    TRY_ASSIGN(const auto logits, evaluator.append(input.subspan(first, n), Evaluator::Logits::kAll));
    TRY(take({index, done, logits, input.subspan(first + 1, n)}));
  }
  return {};
}

}  // namespace

std::span<const int32_t> TextChunks::chunk(int64_t index) const {
  return std::span(tokens).subspan(static_cast<size_t>(index * context), static_cast<size_t>(context));
}

Result<TextChunks> cut_chunks(std::vector<int32_t> tokens, int64_t context, int64_t max_chunks) {
  if (context < kShortestContext) {
    return make_error(ErrorCode::kInvalidArgument, "context: expected at least {} tokens, found {}", kShortestContext,
                      context);
  }
  const auto n_tokens = static_cast<int64_t>(tokens.size());
  if (n_tokens < context) {
    return make_error(ErrorCode::kInvalidArgument, "text: expected at least one chunk of {} tokens, found {}", context,
                      n_tokens);
  }
  TextChunks chunks;
  chunks.context = context;
  chunks.n_chunks = max_chunks > 0 ? std::min(max_chunks, n_tokens / context) : n_tokens / context;
  tokens.resize(static_cast<size_t>(chunks.n_chunks * context));
  chunks.tokens = std::move(tokens);
  return chunks;
}

Result<void> predict_chunks(Evaluator& evaluator, const TextChunks& chunks, std::optional<int32_t> bos,
                            const std::function<Result<void>(const PredictedRows&)>& take) {
  for (int64_t index = 0; index < chunks.n_chunks; ++index) {
    TRY(predict_chunk(evaluator, chunks, index, bos, take));
  }
  return {};
}

}  // namespace ferrox
