#include "engine/evaluator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "arch/arch.h"
#include "base/machine.h"
#include "base/thread_pool.h"
#include "base/units.h"
#include "kv/paged_store.h"
#include "tensor/attention_kinds.h"

namespace ferrox {
namespace {

/// Every attention kind of an evaluator's store has as many.
size_t n_pages_of(const PagedStore& store) {
  return store.n_pages().empty() ? 0 : static_cast<size_t>(store.n_pages().front());
}

}  // namespace

struct Evaluator::Impl {
  std::unique_ptr<Model> model;
  PagedStore store;
  ThreadPool pool;
  std::vector<int32_t> pages;     // the sequence owns the whole store, page by page in order
  std::vector<PageTable> tables;  // of each attention kind
  int32_t batch_rows;
  int64_t length = 0;

  Impl(std::unique_ptr<Model> loaded, PagedStore kv, int n_threads, int32_t rows)
      : model(std::move(loaded)), store(std::move(kv)), pool(n_threads), pages(n_pages_of(store)), batch_rows(rows) {
    std::iota(pages.begin(), pages.end(), 0);
    tables.assign(static_cast<size_t>(attention_kinds(model->shape().kv_layers).size()), pages);
  }

  void forward(std::span<const int32_t> tokens, std::span<const int32_t> logit_rows, float* logits) {
    const BatchSegment segment{static_cast<int32_t>(tokens.size()), length, tables};
    model->forward(Batch{tokens, {&segment, 1}, logit_rows}, store.layers(), pool, logits);
    length += segment.n_rows;
  }

  Result<void> check(std::span<const int32_t> tokens) const {
    const int64_t room = static_cast<int64_t>(pages.size()) * store.page_rows();
    if (static_cast<int64_t>(tokens.size()) > room - length) {
      return make_error(ErrorCode::kContextLength, "{} tokens after {}: expected at most {} positions", tokens.size(),
                        length, room);
    }
    const int32_t n_vocab = model->shape().n_vocab;
    for (const int32_t token : tokens) {
      if (token >= 0 && token < n_vocab) continue;
      return make_error(ErrorCode::kInvalidArgument, "token {}: expected an id from 0 to {}", token, n_vocab - 1);
    }
    return {};
  }
};

namespace {

Result<PagedStore> make_store(const ModelShape& shape, const EvaluatorOptions& options) {
  const KvLayout layout{shape.kv_layers, options.page_rows, options.k_type, options.v_type};
  TRY(validate_layout(layout));
  const int64_t n_pages = kv_pages_for(std::max<int64_t>(options.n_positions, 1), options.page_rows);
  if (n_pages > std::numeric_limits<int32_t>::max()) {
    return make_error(ErrorCode::kMemoryBudget, "kv memory: {} positions are more than pages can be numbered for",
                      options.n_positions);
  }
  const uint64_t page_bytes = kv_page_bytes(layout);
  const uint64_t available_bytes = available_memory_bytes();
  if (page_bytes > 0 && static_cast<uint64_t>(n_pages) > available_bytes / page_bytes) {
    return make_error(ErrorCode::kMemoryBudget, "kv memory: {} pages of {} each, but only {} are available", n_pages,
                      format_bytes(page_bytes), format_bytes(available_bytes));
  }
  const auto n_kinds = static_cast<size_t>(attention_kinds(layout.layers).size());
  return PagedStore::create(layout, std::vector<int32_t>(n_kinds, static_cast<int32_t>(n_pages)));
}

}  // namespace

Evaluator::Evaluator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Result<Evaluator> Evaluator::load(const GgufFile& file, const EvaluatorOptions& options) {
  TRY_ASSIGN(auto model, load_model(file, ModelOptions{options.batch_rows}));
  TRY_ASSIGN(auto store, make_store(model->shape(), options));
  const int n_threads = options.n_threads > 0 ? options.n_threads : available_threads();
  return Evaluator(std::make_unique<Impl>(std::move(model), std::move(store), n_threads, options.batch_rows));
}

const ModelShape& Evaluator::shape() const { return impl_->model->shape(); }
int Evaluator::n_threads() const { return impl_->pool.n_threads(); }
int64_t Evaluator::length() const { return impl_->length; }

Result<std::vector<float>> Evaluator::append(std::span<const int32_t> tokens, Logits wanted) {
  TRY(impl_->check(tokens));
  const auto n_vocab = static_cast<size_t>(shape().n_vocab);
  const size_t n_rows = wanted == Logits::kAll ? tokens.size() : (wanted == Logits::kLast && !tokens.empty() ? 1 : 0);
  std::vector<float> logits(n_rows * n_vocab);
  const auto batch_rows = static_cast<size_t>(impl_->batch_rows);
  for (size_t first = 0; first < tokens.size(); first += batch_rows) {
    const auto chunk = tokens.subspan(first, std::min(batch_rows, tokens.size() - first));
    std::vector<int32_t> rows;
    if (wanted == Logits::kAll) {
      rows.resize(chunk.size());
      std::iota(rows.begin(), rows.end(), 0);
    } else if (wanted == Logits::kLast && first + chunk.size() == tokens.size()) {
      rows.push_back(static_cast<int32_t>(chunk.size()) - 1);
    }
    const size_t first_row = wanted == Logits::kAll ? first : 0;
    impl_->forward(chunk, rows, logits.data() + first_row * n_vocab);
  }
  return logits;
}

void Evaluator::truncate(int64_t n) {
  CHECK(n >= 0 && n <= impl_->length, "only computed positions can be forgotten");
  impl_->length = n;
}

}  // namespace ferrox
