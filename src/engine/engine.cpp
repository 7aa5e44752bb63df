#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/units.h"
#include "engine/call_opener.h"
#include "engine/engine_loop.h"
#include "engine/load_parts.h"
#include "engine/memory_question.h"
#include "engine/model_identity.h"
#include "engine/prefix_archive.h"
#include "kv/contiguous_memory.h"
#include "kv/paged_memory.h"

namespace ferrox {
namespace {

LoopVocabulary loop_vocabulary(const Tokenizer& tokenizer, int32_t n_vocab) {
  LoopVocabulary vocabulary;
  vocabulary.n_vocab = n_vocab;
  for (const int32_t id : tokenizer.vocabulary().end_of_generation()) {
    if (id < n_vocab) vocabulary.end_tokens.push_back(id);
  }
  vocabulary.token_bytes = [&tokenizer](int32_t id) { return tokenizer.token_bytes(id, SpecialText::kHide); };
  vocabulary.encode = [&tokenizer](std::string_view text) { return tokenizer.encode(text, SpecialTokens::kParse); };
  return vocabulary;
}

Result<std::unique_ptr<KvMemory>> make_memory(const MemoryQuestion& question, const MemoryPlan& plan,
                                              const EngineOptions& options) {
  if (question.storage == KvStorage::kContiguous) {
    TRY_ASSIGN(auto memory, ContiguousMemory::create(question.layout, plan.context_length, question.chunk_rows));
    return std::unique_ptr<KvMemory>(std::move(memory));
  }
  const PrefixCaching caching = options.prefix_cache ? PrefixCaching::kOn : PrefixCaching::kOff;
  TRY_ASSIGN(auto memory, PagedMemory::create(question.layout, plan.terms, caching));
  return std::unique_ptr<KvMemory>(std::move(memory));
}

/// The bytes that the model's arithmetic depends on.
std::vector<std::span<const std::byte>> bytes_of(const GgufFile& file) {
  std::vector<std::span<const std::byte>> bytes;
  for (const FileMap& map : file.maps()) bytes.push_back(map.bytes());
  if (!bytes.empty()) return bytes;
  for (const GgufTensor& tensor : file.tensors()) bytes.emplace_back(tensor.data, tensor.size_bytes);
  return bytes;
}

/// Of models that lie in files.
std::span<const FileMap> maps_of(const EngineParts& parts) {
  return parts.file == nullptr ? std::span<const FileMap>() : parts.file->maps();
}

PrefixCache* prefix_cache_of(const MemoryQuestion& question, KvMemory& memory) {
  return question.storage == KvStorage::kPaged ? static_cast<PagedMemory&>(memory).prefix_cache() : nullptr;
}

/// Tiers behind the store's prefix cache; nullptr when none is asked for.
Result<std::unique_ptr<PrefixArchive>> make_archive(const GgufFile* file, const MemoryQuestion& question,
                                                    KvMemory& memory, const EngineOptions& options) {
  const uint64_t disk_bytes = disk_budget_bytes(options);
  if (options.kv_host_bytes == 0 && disk_bytes == 0) return std::unique_ptr<PrefixArchive>();
  PrefixCache* const cache = prefix_cache_of(question, memory);
  if (cache == nullptr) {
    return make_error(ErrorCode::kInvalidArgument,
                      "host and disk tiers: expected paged storage with its prefix cache, found none");
  }
  TierOptions tiers;
  tiers.host_bytes = options.kv_host_bytes;
  PageKey model;
  if (disk_bytes > 0) {
    tiers.disk_folder = *options.kv_disk;
    tiers.disk_bytes = disk_bytes;
    tiers.staging_bytes = tier_staging_bytes(options);
    ThreadPool threads(step_threads(options));
    model = model_identity(file != nullptr ? bytes_of(*file) : std::vector<std::span<const std::byte>>(),
                           question.layout, threads);
  }
  TRY_ASSIGN(auto opened, PrefixTiers::open(tier_layout(memory.terms(), model), tiers));
  return std::make_unique<PrefixArchive>(*cache, std::move(opened));
}

/// Before anything is cached.
Result<void> observe_cache(PrefixCache* cache, const EngineOptions& options) {
  if (options.prefix_observer == nullptr) return {};
  if (cache == nullptr) {
    return make_error(ErrorCode::kInvalidArgument,
                      "events of the prefix cache: expected paged storage with its prefix cache, found none");
  }
  cache->tree().observe(*options.prefix_observer);
  return {};
}

/// Conversations beside the tiers' files.
Result<std::unique_ptr<Sessions>> make_sessions(PrefixCache& cache, PrefixTiers& tiers, const EngineOptions& options,
                                                int32_t n_vocab, EngineLoop& loop) {
  const uint64_t disk_bytes = disk_budget_bytes(options);
  TRY_ASSIGN(auto store, SessionStore::open(tiers.layout(), *options.kv_disk / "sessions", disk_bytes));
  return std::make_unique<Sessions>(
      cache, tiers, std::move(store), disk_bytes, n_vocab,
      [&loop](std::function<void()> work) { return loop.post([work = std::move(work)](KvMemory&) { work(); }); });
}

EngineLoopOptions loop_options(const EngineOptions& options, const MemoryQuestion& question, const MemoryPlan& plan,
                               int32_t call_opener) {
  const auto batch_rows = static_cast<int32_t>(question.chunk_rows);
  return {.n_threads = step_threads(options),
          .context_length = plan.context_length,
          .n_parallel = std::min(question.n_parallel, batch_rows),
          .batch_rows = batch_rows,
          .max_queue = std::max(0, options.max_queue),
          .default_max_tokens = options.default_max_tokens,
          .default_timeout_ms = options.default_timeout_ms,
          .call_opener = call_opener,
          .max_gap_ms = options.max_gap_ms};
}

std::string end_token_names(const Vocabulary& vocabulary) {
  std::string names;
  for (const int32_t id : vocabulary.end_of_generation()) names += fmt::format(" {} '{}'", id, vocabulary.text(id));
  return names.empty() ? " none" : names;
}

void log_start(const EngineParts& parts, const MemoryQuestion& question, const MemoryPlan& plan) {
  const ModelShape& shape = parts.model->shape();
  log().info("{}: {}, {} of weights, context {} of {}, {} of KV memory", parts.model_id, shape.architecture,
             format_bytes(shape.weight_bytes), plan.context_length, shape.context_length, format_bytes(plan.kv_bytes));
  for (const std::string& line : explain_plan(question, plan)) log().info("memory: {}", line);
  log().info("end-of-generation tokens:{}", end_token_names(parts.tokenizer->vocabulary()));
  for (const std::string& doubt : doubts_of_plan(question, plan)) log().warn("{}", doubt);
}

}  // namespace

struct Engine::Impl {
  EngineParts parts;
  int64_t context_length;
  uint64_t kv_bytes;
  int32_t page_rows;
  uint64_t scratch_bytes;
  std::shared_ptr<PrefixObserver> prefix_observer;
  std::unique_ptr<EngineLoop> loop;    // last: it stops before what it uses goes away
  std::unique_ptr<Sessions> sessions;  // but for those who use the loop
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  if (const auto anonymous = anonymous_memory_bytes()) {
    log().debug("memory: {} held that no file backs; declared: KV {} + scratch {}", format_bytes(*anonymous),
                format_bytes(impl_->kv_bytes), format_bytes(impl_->scratch_bytes));
  }
}

Result<std::unique_ptr<Engine>> Engine::load(const EngineOptions& options) {
  TRY_ASSIGN(EngineParts parts, load_parts(options));
  return assemble(std::move(parts), options);
}

Result<std::unique_ptr<Engine>> Engine::assemble(EngineParts parts, const EngineOptions& options) {
  Model& model = *parts.model;
  TRY_ASSIGN(const MemoryQuestion question, memory_question(model, options));
  TRY_ASSIGN(const MemoryPlan plan, plan_memory(question));
  TRY_ASSIGN(std::unique_ptr<KvMemory> memory, make_memory(question, plan, options));
  TRY_ASSIGN(std::unique_ptr<PrefixArchive> archive, make_archive(parts.file.get(), question, *memory, options));
  log_start(parts, question, plan);
  const uint64_t kv_bytes = memory->size_bytes();
  const int32_t page_rows = memory->terms().page_rows;
  CHECK(kv_bytes == plan.kv_bytes, "the store takes what was planned");
  const int32_t call_opener = find_call_opener(parts.chat_template->source(), *parts.tokenizer);
  PrefixTiers* const tiers = archive == nullptr ? nullptr : &archive->tiers();
  PrefixCache* const cache = prefix_cache_of(question, *memory);
  TRY(observe_cache(cache, options));
  auto loop =
      std::make_unique<EngineLoop>(model, loop_vocabulary(*parts.tokenizer, model.shape().n_vocab), std::move(memory),
                                   loop_options(options, question, plan, call_opener), std::move(archive));
  std::unique_ptr<Sessions> sessions;
  if (disk_budget_bytes(options) > 0) {
    TRY_ASSIGN(sessions, make_sessions(*cache, *tiers, options, model.shape().n_vocab, *loop));
  }
  auto impl =
      std::make_unique<Impl>(Impl{std::move(parts), plan.context_length, kv_bytes, page_rows, question.scratch_bytes,
                                  options.prefix_observer, std::move(loop), std::move(sessions)});
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

const ModelShape& Engine::shape() const { return impl_->parts.model->shape(); }
const GgufFile& Engine::file() const { return *impl_->parts.file; }
const Tokenizer& Engine::tokenizer() const { return *impl_->parts.tokenizer; }
const ChatTemplate& Engine::chat_template() const { return *impl_->parts.chat_template; }
const std::string& Engine::model_id() const { return impl_->parts.model_id; }
int64_t Engine::context_length() const { return impl_->context_length; }
uint64_t Engine::kv_bytes() const { return impl_->kv_bytes; }
int32_t Engine::page_rows() const { return impl_->page_rows; }
uint64_t Engine::scratch_bytes() const { return impl_->scratch_bytes; }
EngineStatus Engine::status() const { return impl_->loop->status(); }

Result<RequestId> Engine::submit(GenerationRequest request, EventSink sink) {
  return impl_->loop->submit(std::move(request), std::move(sink));
}

Result<std::vector<RequestId>> Engine::submit_all(std::vector<NewRequest> requests) {
  return impl_->loop->submit_all(std::move(requests));
}

Result<void> Engine::check_number(size_t n_requests) const { return impl_->loop->check_number(n_requests); }

Result<AdmissionAnswer> Engine::ask_admission(std::span<const int32_t> prompt, std::optional<int64_t> max_tokens,
                                              int32_t n_choices) const {
  return impl_->loop->ask_admission(prompt, max_tokens, n_choices);
}

bool Engine::ask_cache(size_t most_nodes, TakeCacheReport take) {
  return impl_->loop->post([most_nodes, take = std::move(take)](KvMemory& kv) { take(kv.cache_report(most_nodes)); });
}

bool Engine::clear_cache(TakeCacheReport take) {
  return impl_->loop->clear_cache([take = std::move(take)](KvMemory& kv) { take(kv.cache_report(0)); });
}

bool Engine::ask_pins(std::function<void(PrefixPins*)> use) {
  return impl_->loop->post([use = std::move(use)](KvMemory& kv) { use(kv.pins()); });
}

bool Engine::ask_slots(std::function<void(std::vector<SlotState>)> take) {
  return impl_->loop->ask_slots(std::move(take));
}

bool Engine::sleep(SleepLevel level, std::function<void()> done) {
  return impl_->loop->give_back(level, [this, level, done = std::move(done)] {
    for (const FileMap& map : maps_of(impl_->parts)) {
      level == SleepLevel::kDropAll ? map.advise_dropped() : map.advise_cold();
    }
    done();
  });
}

void Engine::wake() {
  for (const FileMap& map : maps_of(impl_->parts)) map.advise_will_need();
}

Sessions* Engine::sessions() { return impl_->sessions.get(); }

std::optional<PrefixTierStats> Engine::tier_stats() const { return impl_->loop->tier_stats(); }

void Engine::cancel(RequestId id) { impl_->loop->cancel(id); }
void Engine::drain() { impl_->loop->drain(); }
bool Engine::wait_idle(int64_t timeout_ms) { return impl_->loop->wait_idle(timeout_ms); }

}  // namespace ferrox
