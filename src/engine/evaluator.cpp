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

int64_t pages_of_sequence(const EvaluatorOptions& options) {
  return kv_pages_for(std::max<int64_t>(options.n_positions, 1), options.page_rows);
}

}  // namespace

struct Evaluator::Impl {
  /// A sequence owns its share of the store, page by page in order.
  struct Sequence {
    std::vector<int32_t> pages;
    std::vector<PageTable> tables;  // of each attention kind
    int64_t length = 0;
    std::vector<float> state;        // recurrent, after `length` tokens
    std::vector<float> saved_state;  // and after the saved_length ones that were marked
    int64_t saved_length = 0;

    float* state_data() { return state.empty() ? nullptr : state.data(); }
    void save() {
      saved_state = state;
      saved_length = length;
    }
  };

  static std::vector<Sequence> share_pages(const ModelShape& shape, const EvaluatorOptions& options) {
    const auto n_kinds = static_cast<size_t>(attention_kinds(shape.kv_layers).size());
    const auto n_pages = static_cast<size_t>(pages_of_sequence(options));
    std::vector<Sequence> sequences(static_cast<size_t>(options.n_sequences));
    int32_t next = 0;
    for (Sequence& sequence : sequences) {
      sequence.pages.resize(n_pages);
      std::iota(sequence.pages.begin(), sequence.pages.end(), next);
      sequence.tables.assign(n_kinds, sequence.pages);
      sequence.state.assign(static_cast<size_t>(shape.state_floats), 0.0f);
      next += static_cast<int32_t>(n_pages);
    }
    return sequences;
  }

  std::unique_ptr<Model> model;
  PagedStore store;
  ThreadPool pool;
  std::vector<Sequence> sequences;
  std::vector<float> logits;  // of the last call: grown once, since fresh memory for each row costs more than a norm
  int32_t batch_rows;

  Impl(std::unique_ptr<Model> loaded, PagedStore kv, int n_threads, const EvaluatorOptions& options)
      : model(std::move(loaded)),
        store(std::move(kv)),
        pool(n_threads),
        sequences(share_pages(model->shape(), options)),
        batch_rows(options.batch_rows) {}

  void forward(Sequence& sequence, std::span<const int32_t> tokens, std::span<const int32_t> logit_rows, float* out) {
    const BatchSegment segment{static_cast<int32_t>(tokens.size()), sequence.length, sequence.tables,
                               sequence.state_data()};
    model->forward(Batch{tokens, {&segment, 1}, logit_rows}, store.layers(), pool, out);
    sequence.length += segment.n_rows;
  }

  Result<void> check(const Sequence& sequence, std::span<const int32_t> tokens) const {
    const int64_t room = static_cast<int64_t>(sequence.pages.size()) * store.page_rows();
    if (static_cast<int64_t>(tokens.size()) > room - sequence.length) {
      return make_error(ErrorCode::kContextLength, "{} tokens after {}: expected at most {} positions", tokens.size(),
                        sequence.length, room);
    }
    const int32_t n_vocab = model->shape().n_vocab;
    for (const int32_t token : tokens) {
      if (token >= 0 && token < n_vocab) continue;
      return make_error(ErrorCode::kInvalidArgument, "token {}: expected an id from 0 to {}", token, n_vocab - 1);
    }
    return {};
  }

  std::span<float> take_logits(size_t n_rows) {
    const size_t n_floats = n_rows * static_cast<size_t>(model->shape().n_vocab);
    if (logits.size() < n_floats) logits.resize(n_floats);
    return std::span(logits).first(n_floats);
  }
};

namespace {

Result<PagedStore> make_store(const ModelShape& shape, const EvaluatorOptions& options) {
  const KvLayout layout{shape.kv_layers, options.page_rows, options.k_type, options.v_type};
  TRY(validate_layout(layout));
  const int64_t n_pages = pages_of_sequence(options) * options.n_sequences;
  if (n_pages > std::numeric_limits<int32_t>::max()) {
    return make_error(ErrorCode::kMemoryBudget,
                      "kv memory: {} positions of {} sequences are more than pages can be numbered for",
                      options.n_positions, options.n_sequences);
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
  CHECK(options.n_sequences >= 1, "there is a sequence to evaluate");
  TRY_ASSIGN(auto model, load_model(file, ModelOptions{std::max(options.batch_rows, options.n_sequences)}));
  TRY_ASSIGN(auto store, make_store(model->shape(), options));
  const int n_threads = options.n_threads > 0 ? options.n_threads : available_threads();
  return Evaluator(std::make_unique<Impl>(std::move(model), std::move(store), n_threads, options));
}

const ModelShape& Evaluator::shape() const { return impl_->model->shape(); }
int Evaluator::n_threads() const { return impl_->pool.n_threads(); }
int64_t Evaluator::length(int32_t sequence) const { return impl_->sequences[static_cast<size_t>(sequence)].length; }

Result<std::span<const float>> Evaluator::append(std::span<const int32_t> tokens, Logits wanted, int32_t index) {
  Impl::Sequence& sequence = impl_->sequences[static_cast<size_t>(index)];
  TRY(impl_->check(sequence, tokens));
  const auto n_vocab = static_cast<size_t>(shape().n_vocab);
  const size_t n_rows = wanted == Logits::kAll ? tokens.size() : (wanted == Logits::kLast && !tokens.empty() ? 1 : 0);
  const std::span<float> logits = impl_->take_logits(n_rows);
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
    impl_->forward(sequence, chunk, rows, logits.data() + first_row * n_vocab);
  }
  return logits;
}

Result<std::span<const float>> Evaluator::step(std::span<const int32_t> tokens) {
  CHECK(tokens.size() <= impl_->sequences.size(), "a step has a token for each of the first sequences");
  std::vector<BatchSegment> segments;
  std::vector<int32_t> rows(tokens.size());
  std::iota(rows.begin(), rows.end(), 0);
  for (size_t i = 0; i < tokens.size(); ++i) {
    Impl::Sequence& sequence = impl_->sequences[i];
    TRY(impl_->check(sequence, tokens.subspan(i, 1)));
    segments.push_back({1, sequence.length, sequence.tables, sequence.state_data()});
  }
  const std::span<float> logits = impl_->take_logits(tokens.size());
  impl_->model->forward(Batch{tokens, segments, rows}, impl_->store.layers(), impl_->pool, logits.data());
  for (size_t i = 0; i < tokens.size(); ++i) ++impl_->sequences[i].length;
  return logits;
}

void Evaluator::set_profile(Profile* profile) { impl_->pool.set_profile(profile); }

void Evaluator::mark(int32_t index) { impl_->sequences[static_cast<size_t>(index)].save(); }

void Evaluator::truncate(int64_t n, int32_t index) {
  Impl::Sequence& sequence = impl_->sequences[static_cast<size_t>(index)];
  CHECK(n >= 0 && n <= sequence.length, "only computed positions can be forgotten");
  if (!sequence.state.empty() && n != sequence.length) {
    CHECK(n == 0 || n == sequence.saved_length, "a state goes back to where it was kept");
    if (n == 0) std::fill(sequence.state.begin(), sequence.state.end(), 0.0f);
    if (n > 0) sequence.state = sequence.saved_state;
  }
  sequence.length = n;
}

}  // namespace ferrox
