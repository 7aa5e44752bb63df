#include "engine/engine_loop.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "kv/prefix_pins.h"

namespace ferrox {
namespace {

/// Who chooses its next token, and by what.
struct Chooser {
  RunningRequest* request;
  std::span<float> logits;
};

}  // namespace

EngineLoop::EngineLoop(Model& model, LoopVocabulary vocabulary, std::unique_ptr<KvMemory> kv,
                       const EngineLoopOptions& options, std::unique_ptr<PrefixArchive> archive)
    : model_(model),
      vocabulary_(std::move(vocabulary)),
      options_(options),
      kv_(std::move(kv)),
      archive_(std::move(archive)),
      n_pages_total_(std::accumulate(kv_->terms().n_pages.begin(), kv_->terms().n_pages.end(), int64_t{0})),
      threads_(options.n_threads),
      batch_(model.shape().n_vocab, options.n_parallel),
      pace_(options.max_gap_ms, options.batch_rows),
      running_(options.n_parallel, archive_.get()),
      inbox_(options.n_parallel, options.max_queue),
      intake_(vocabulary_, options_, kv_->terms(), inbox_),
      admitter_(*kv_, archive_.get(), threads_, waiting_, running_, inbox_, options_.call_opener) {
  CHECK(options_.n_parallel >= 1 && options_.n_parallel <= options_.batch_rows, "a step has a row for every request");
  CHECK(options_.batch_rows <= model_.max_batch_rows(), "the model's scratch takes a whole step");
  if (archive_ != nullptr) archive_->on_progress([this] { heartbeat_.beat(); });
  publish();
  thread_ = std::thread([this] { run(); });
}

EngineLoop::~EngineLoop() {
  inbox_.stop();
  thread_.join();
  kv_->check_integrity();
}

Result<RequestId> EngineLoop::submit(GenerationRequest request, EventSink sink) {
  std::vector<NewRequest> one;
  one.push_back({std::move(request), std::move(sink)});
  TRY_ASSIGN(const std::vector<RequestId> ids, submit_all(std::move(one)));
  return ids.front();
}

bool EngineLoop::ask_slots(std::function<void(std::vector<SlotState>)> take) {
  return post([this, take = std::move(take)](KvMemory&) { take(running_.slots()); });
}

/// Those who sleep have nothing that runs. Whoever came nevertheless keeps what it holds.
bool EngineLoop::give_back(SleepLevel level, std::function<void()> done) {
  return post([this, level, done = std::move(done)](KvMemory& kv) {
    if (archive_ != nullptr && level == SleepLevel::kKeepPrefixes) archive_->copy_all(PrefixArchive::kFinishLimit);
    if (archive_ != nullptr && level == SleepLevel::kDropAll) archive_->tiers().clear_memory();
    kv.clear_cache();
    kv.give_back();
    publish();
    done();
  });
}

bool EngineLoop::clear_cache(RequestInbox::Job then) {
  return post([this, then = std::move(then)](KvMemory& kv) {
    if (archive_ != nullptr) archive_->forget();
    kv.clear_cache();
    then(kv);
  });
}

void EngineLoop::publish() {
  inbox_.publish({.n_running = running_.n_slots_taken(),
                  .n_parked = waiting_.n_parked(),
                  .n_left = waiting_.take_n_left(),
                  .n_pages_total = n_pages_total_,
                  .n_free_pages = kv_->n_free(),
                  .n_available_pages = kv_->n_available(),
                  .n_steps = n_steps_});
}

std::optional<PrefixTierStats> EngineLoop::tier_stats() const {
  if (archive_ == nullptr) return std::nullopt;
  return archive_->stats();
}

EngineStatus EngineLoop::status() const {
  EngineStatus status = inbox_.status();
  status.silence = std::chrono::duration_cast<std::chrono::milliseconds>(heartbeat_.silence());
  return status;
}

bool EngineLoop::has_copies() const { return archive_ != nullptr && archive_->has_work(); }

bool EngineLoop::wait_for_work() {
  const bool has_work = !running_.empty() || !waiting_.empty() || has_copies();
  if (!has_work) heartbeat_.rest();
  const bool goes_on = inbox_.wait_for_work(has_work);
  heartbeat_.beat();
  return goes_on;
}

void EngineLoop::run() {
  while (wait_for_work()) {
    if (has_copies()) archive_->work();
    take_news();
    finish_over();
    run_jobs();
    const TimePoint now = Clock::now();
    inbox_.note_blocked(admitter_.admit(now));
    publish();
    refuse_expired(now);
    if (running_.empty()) continue;
    step();
    finish_over();
  }
  run_jobs();
  inbox_.cancel_all();
  take_news();
  finish_over();
  if (archive_ != nullptr) archive_->finish();
  heartbeat_.rest();
}

/// Who came waits; who was cancelled doesn't.
void EngineLoop::take_news() {
  RequestInbox::News news = inbox_.take_news();
  for (Choices& choices : news.arrivals) waiting_.add(std::move(choices));
  Choices gone;
  for (const auto& request : running_) {
    for (AcceptedRequest& choice : request->cancel(news.cancelled)) {
      waiting_.stop(choice);
      gone.push_back(std::move(choice));
    }
  }
  for (const RequestId id : news.cancelled) {
    std::optional<AcceptedRequest> waiting = waiting_.cancel(id);
    if (!waiting) continue;
    gone.push_back(std::move(*waiting));
  }
  if (gone.empty()) return;
  publish();
  for (AcceptedRequest& request : gone) {
    finish_waiting(request, Clock::now());
    inbox_.retire(request.id);
  }
}

void EngineLoop::run_jobs() {
  if (PrefixPins* const pins = kv_->pins()) pins->expire(Clock::now());
  for (const RequestInbox::Job& job : inbox_.take_jobs()) job(*kv_);
}

void EngineLoop::refuse_expired(TimePoint now) {
  Choices expired = waiting_.take_expired(now);
  if (expired.empty()) return;
  publish();
  for (AcceptedRequest& request : expired) {
    inbox_.count_expired();
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - request.arrival);
    request.sink(make_error(ErrorCode::kUnavailable, "no room before the deadline: waited {} ms for {} positions",
                            waited.count(), request.n_positions));
    inbox_.retire(request.id);
  }
}

void EngineLoop::step() {
  std::vector<SequenceWork> work;
  work.reserve(running_.size());
  for (const auto& request : running_) work.push_back(request->work());
  const std::vector<StepPart> parts = plan_step(work, options_.batch_rows, pace_.most_rows());
  batch_.clear();
  for (const StepPart& part : parts) batch_.add(running_[static_cast<size_t>(part.sequence)], part.n_rows);
  const TimePoint start = Clock::now();
  const Batch batch = batch_.batch([this, ids = ids_of(parts)] {
    heartbeat_.beat();
    return inbox_.are_cancelled(ids);
  });
  if (!model_.forward(batch, kv_->layers(), threads_, batch_.all_logits())) {
    for (const StepPart& part : parts) running_[static_cast<size_t>(part.sequence)].lose_rows();
    take_news();
    return;
  }
  pace_.record(static_cast<int64_t>(batch.tokens.size()),
               std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  ++n_steps_;
  take_news();
  take_results(parts);
}

/// Every answer that the step computes for.
std::vector<RequestId> EngineLoop::ids_of(const std::vector<StepPart>& parts) const {
  std::vector<RequestId> ids;
  for (const StepPart& part : parts) running_[static_cast<size_t>(part.sequence)].add_ids(ids);
  return ids;
}

void EngineLoop::take_results(const std::vector<StepPart>& parts) {
  const TimePoint now = Clock::now();
  std::vector<Chooser> choosers;
  size_t n_logit_rows = 0;
  for (const StepPart& part : parts) {
    RunningRequest& request = running_[static_cast<size_t>(part.sequence)];
    const bool has_logits = request.reaches_end(part.n_rows);
    const size_t row = n_logit_rows;
    n_logit_rows += has_logits;
    request.rows_done(now);  // of one that was cancelled meanwhile, too: its state is past them
    if (request.is_over() || !has_logits) continue;
    if (archive_ != nullptr && request.leaves_prefix() && request.is_at_prompt_end()) {
      archive_->keep(request.space(), request.tokens());
    }
    fork_choices(request, batch_.logits(row), now);
    choosers.push_back({&request, batch_.logits(row)});
  }
  threads_.run(static_cast<int64_t>(choosers.size()), [&](int64_t i, int) {
    const Chooser& chooser = choosers[static_cast<size_t>(i)];
    chooser.request->choose(chooser.logits);
  });
  for (const Chooser& chooser : choosers) chooser.request->take_choice(now);
}

/// Choices that waited for this prompt go on from its last logits, each from a copy.
void EngineLoop::fork_choices(RunningRequest& request, std::span<const float> logits, TimePoint now) {
  for (auto& fork : request.fork_choices()) {
    std::vector<float> own(logits.begin(), logits.end());
    fork->choose(own);
    fork->take_choice(now);
    running_.start(std::move(fork));
  }
}

// Pages go back and the status says so before anybody hears of the end.
void EngineLoop::finish_over() {
  const RunningRequests::Requests over = running_.remove_over();
  if (over.empty()) return;
  for (const auto& request : over) waiting_.stop(request->accepted());
  publish();
  for (const auto& request : over) {
    request->finish(Clock::now());
    inbox_.retire(request->id());
  }
}

}  // namespace ferrox
