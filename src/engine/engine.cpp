#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/machine.h"
#include "base/units.h"
#include "engine/engine_loop.h"
#include "engine/load_parts.h"
#include "engine/memory_plan.h"

namespace ferrox {
namespace {

LoopVocabulary loop_vocabulary(const Tokenizer& tokenizer, int32_t n_vocab) {
  LoopVocabulary vocabulary;
  vocabulary.n_vocab = n_vocab;
  for (const int32_t id : tokenizer.vocabulary().end_of_generation()) {
    if (id < n_vocab) vocabulary.end_tokens.push_back(id);
  }
  // A model may have more rows of logits than its vocabulary has tokens: those stand for nothing.
  vocabulary.token_bytes = [&tokenizer](int32_t id) {
    return tokenizer.vocabulary().contains(id) ? tokenizer.token_bytes(id, SpecialText::kHide) : std::string_view();
  };
  vocabulary.encode = [&tokenizer](std::string_view text) { return tokenizer.encode(text, SpecialTokens::kParse); };
  return vocabulary;
}

Result<MemoryPlan> plan_for(const Model& model, const KvLayout& layout, const EngineOptions& options) {
  TRY(validate_layout(layout));
  TRY_ASSIGN(const uint64_t budget_bytes, device_budget_bytes());
  return plan_memory({.layout = layout,
                      .trained_context = model.shape().context_length,
                      .context_length = options.context_length,
                      .n_parallel = options.n_parallel,
                      .kv_bytes = options.kv_bytes,
                      .budget_bytes = budget_bytes,
                      .weight_bytes = model.shape().weight_bytes,
                      .scratch_bytes = model.scratch_bytes()});
}

EngineLoopOptions loop_options(const EngineOptions& options, const Model& model, const MemoryPlan& plan) {
  const int32_t batch_rows = std::clamp(std::max(options.batch_rows, options.n_parallel), 1, model.max_batch_rows());
  return {.n_threads = options.n_threads > 0 ? options.n_threads : available_threads(),
          .context_length = plan.context_length,
          .n_parallel = std::min(options.n_parallel, batch_rows),
          .batch_rows = batch_rows,
          .max_queue = std::max(0, options.max_queue),
          .default_max_tokens = options.default_max_tokens,
          .default_timeout_ms = options.default_timeout_ms};
}

std::string end_token_names(const Vocabulary& vocabulary) {
  std::string names;
  for (const int32_t id : vocabulary.end_of_generation()) names += fmt::format(" {} '{}'", id, vocabulary.text(id));
  return names.empty() ? " none" : names;
}

void log_start(const EngineParts& parts, const MemoryPlan& plan, uint64_t kv_bytes) {
  const ModelShape& shape = parts.model->shape();
  log().info("{}: {}, {} of weights, context {} of {}, {} of KV memory", parts.model_id, shape.architecture,
             format_bytes(shape.weight_bytes), plan.context_length, shape.context_length, format_bytes(kv_bytes));
  log().info("end-of-generation tokens:{}", end_token_names(parts.tokenizer->vocabulary()));
  if (plan.context_length > shape.context_length) {
    log().warn("context {} is longer than the {} positions the model was trained for", plan.context_length,
               shape.context_length);
  }
}

}  // namespace

struct Engine::Impl {
  EngineParts parts;
  int64_t context_length;
  uint64_t kv_bytes;
  std::unique_ptr<EngineLoop> loop;  // last: it stops before what it uses goes away
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::load(const EngineOptions& options) {
  TRY_ASSIGN(EngineParts parts, load_parts(options));
  return assemble(std::move(parts), options);
}

Result<std::unique_ptr<Engine>> Engine::assemble(EngineParts parts, const EngineOptions& options) {
  Model& model = *parts.model;
  const KvLayout layout{model.shape().kv_layers, options.page_rows, options.k_type, options.v_type};
  TRY_ASSIGN(const MemoryPlan plan, plan_for(model, layout, options));
  TRY_ASSIGN(PagedStore store, PagedStore::create(layout, plan.n_pages));
  log_start(parts, plan, store.size_bytes());
  const uint64_t kv_bytes = store.size_bytes();
  auto loop = std::make_unique<EngineLoop>(model, loop_vocabulary(*parts.tokenizer, model.shape().n_vocab),
                                           std::move(store), loop_options(options, model, plan));
  auto impl = std::make_unique<Impl>(Impl{std::move(parts), plan.context_length, kv_bytes, std::move(loop)});
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

const ModelShape& Engine::shape() const { return impl_->parts.model->shape(); }
const GgufFile& Engine::file() const { return *impl_->parts.file; }
const Tokenizer& Engine::tokenizer() const { return *impl_->parts.tokenizer; }
const ChatTemplate& Engine::chat_template() const { return *impl_->parts.chat_template; }
const std::string& Engine::model_id() const { return impl_->parts.model_id; }
int64_t Engine::context_length() const { return impl_->context_length; }
uint64_t Engine::kv_bytes() const { return impl_->kv_bytes; }
uint64_t Engine::scratch_bytes() const { return impl_->parts.model->scratch_bytes(); }
EngineStatus Engine::status() const { return impl_->loop->status(); }

Result<RequestId> Engine::submit(GenerationRequest request, EventSink sink) {
  return impl_->loop->submit(std::move(request), std::move(sink));
}

void Engine::cancel(RequestId id) { impl_->loop->cancel(id); }
void Engine::drain() { impl_->loop->drain(); }
bool Engine::wait_idle(int64_t timeout_ms) { return impl_->loop->wait_idle(timeout_ms); }

}  // namespace ferrox
