#include "engine/engine_loop.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ferrox {

EngineLoop::EngineLoop(Model& model, LoopVocabulary vocabulary, PagedStore store, const EngineLoopOptions& options)
    : model_(model),
      vocabulary_(std::move(vocabulary)),
      options_(options),
      store_(std::move(store)),
      pages_(store_.n_pages()),
      threads_(options.n_threads),
      batch_(model.shape().n_vocab),
      queue_(options.max_queue) {
  CHECK(options_.n_parallel >= 1 && options_.n_parallel <= options_.batch_rows, "a step has a row for every request");
  CHECK(options_.batch_rows <= model_.max_batch_rows(), "the model's scratch takes a whole step");
  publish_status_locked();
  thread_ = std::thread([this] { run(); });
}

EngineLoop::~EngineLoop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
  pages_.check_integrity();
  CHECK(pages_.n_held() == 0, "every page came back");
}

AdmissionLimits EngineLoop::limits() const {
  return {.context_length = options_.context_length,
          .n_pages = store_.n_pages(),
          .page_rows = store_.page_rows(),
          .page_bytes = kv_page_bytes(store_.layout()),
          .default_max_tokens = options_.default_max_tokens};
}

TimePoint EngineLoop::deadline_of(int64_t timeout_ms, TimePoint arrival) const {
  constexpr int64_t kLongestMs = int64_t{1000} * 60 * 60 * 24 * 365;  // a year: far from the clock's overflow
  if (timeout_ms < 0) timeout_ms = options_.default_timeout_ms > 0 ? options_.default_timeout_ms : kLongestMs;
  if (timeout_ms >= kLongestMs) return TimePoint::max();
  return arrival + std::chrono::milliseconds(timeout_ms);
}

Result<RequestId> EngineLoop::submit(GenerationRequest request, EventSink sink) {
  Result<RequestId> id = enqueue(std::move(request), std::move(sink), Clock::now());
  if (!id) count_refusal(id.error().code);
  return id;
}

void EngineLoop::count_refusal(ErrorCode code) {
  const std::lock_guard lock(mutex_);
  refused_.too_long += code == ErrorCode::kContextLength;
  refused_.too_large += code == ErrorCode::kMemoryBudget;
  refused_.queue_full += code == ErrorCode::kUnavailable && !draining_ && !stopping_;
}

Result<RequestId> EngineLoop::enqueue(GenerationRequest request, EventSink sink, TimePoint arrival) {
  const int64_t timeout_ms = request.timeout_ms;
  const auto n_prompt = static_cast<int64_t>(request.prompt.size());
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, request.max_tokens));
  TRY_ASSIGN(TokenLoop loop, TokenLoop::create(std::move(request), needed.max_tokens, vocabulary_));
  const std::lock_guard lock(mutex_);
  if (draining_ || stopping_) return make_error(ErrorCode::kUnavailable, "draining: no new requests are admitted");
  const int32_t n_open_slots = head_is_blocked_ ? 0 : options_.n_parallel - status_.n_running;
  const RequestId id = next_id_;
  TRY(queue_.push({id, needed.n_positions, deadline_of(timeout_ms, arrival)}, n_open_slots));
  ++next_id_;
  waiting_.emplace(id, AcceptedRequest{id, std::move(loop), needed.n_positions, std::move(sink), arrival});
  live_.insert(id);
  status_.n_queued = queue_.size();
  work_.notify_one();
  return id;
}

void EngineLoop::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  if (!live_.contains(id)) return;
  cancellations_.insert(id);
  work_.notify_one();
}

void EngineLoop::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

bool EngineLoop::wait_idle(int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] { return live_.empty(); });
}

EngineStatus EngineLoop::status() const {
  const std::lock_guard lock(mutex_);
  EngineStatus status = status_;
  status.refused = refused_;
  return status;
}

void EngineLoop::publish_status_locked() {
  status_.n_running = static_cast<int32_t>(running_.size());
  status_.n_queued = queue_.size();
  status_.n_pages_total = pages_.n_pages();
  status_.n_pages_free = pages_.n_free();
  status_.n_steps = n_steps_;
}

void EngineLoop::run() {
  while (wait_for_work()) {
    apply_cancellations();
    finish_over();
    admit();
    refuse_expired();
    if (running_.empty()) continue;
    step();
    finish_over();
  }
  cancel_everything();
}

// False when the engine stops. Sleeps while there is nothing to run, admit or cancel: with nothing running the head of
// the queue always fits, so a queue alone is work too, and no deadline needs a clock here.
bool EngineLoop::wait_for_work() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [this] { return stopping_ || !queue_.empty() || !cancellations_.empty() || !running_.empty(); });
  return !stopping_;
}

void EngineLoop::apply_cancellations() {
  std::vector<AcceptedRequest> unadmitted;
  {
    const std::lock_guard lock(mutex_);
    for (const RequestId id : std::exchange(cancellations_, {})) {
      if (queue_.remove(id)) unadmitted.push_back(std::move(waiting_.extract(id).mapped()));
      const auto runs = std::find_if(running_.begin(), running_.end(), [id](const auto& r) { return r->id() == id; });
      if (runs != running_.end()) (*runs)->cancel();
    }
    publish_status_locked();
  }
  for (AcceptedRequest& request : unadmitted) {
    finish_unadmitted(request, Clock::now());
    retire(request.id);
  }
}

std::vector<AcceptedRequest> EngineLoop::take_admissible() {
  std::vector<AcceptedRequest> admissible;
  int64_t n_free = pages_.n_free();
  size_t n_slots = static_cast<size_t>(options_.n_parallel) - running_.size();
  const std::lock_guard lock(mutex_);
  while (const QueuedRequest* head = queue_.head()) {
    const int64_t n_pages = kv_pages_for(head->n_positions, store_.page_rows());
    if (n_slots == 0 || n_pages > n_free) break;
    n_free -= n_pages;
    --n_slots;
    const RequestId id = head->id;
    queue_.remove(id);
    admissible.push_back(std::move(waiting_.extract(id).mapped()));
  }
  CHECK(queue_.empty() || !running_.empty() || !admissible.empty(),
        "an idle engine has room for the head of its queue");
  head_is_blocked_ = !queue_.empty();
  // Slots are taken from here on, also in the eyes of submit().
  status_.n_running = static_cast<int32_t>(running_.size() + admissible.size());
  status_.n_queued = queue_.size();
  return admissible;
}

void EngineLoop::admit() {
  const TimePoint now = Clock::now();
  for (AcceptedRequest& request : take_admissible()) {
    SequenceKv kv(pages_, store_.page_rows());
    CHECK(kv.reserve(request.n_positions), "what was counted as free can be taken");
    running_.push_back(std::make_unique<RunningRequest>(std::move(request), std::move(kv), now));
  }
  const std::lock_guard lock(mutex_);
  publish_status_locked();
}

void EngineLoop::refuse_expired() {
  const TimePoint now = Clock::now();
  std::vector<AcceptedRequest> expired;
  {
    const std::lock_guard lock(mutex_);
    for (const RequestId id : queue_.take_expired(now)) expired.push_back(std::move(waiting_.extract(id).mapped()));
    refused_.no_room += expired.size();
    if (!expired.empty()) publish_status_locked();
  }
  for (AcceptedRequest& request : expired) {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - request.arrival);
    request.sink(make_error(ErrorCode::kUnavailable, "no room before the deadline: waited {} ms for {} positions",
                            waited.count(), request.n_positions));
    retire(request.id);
  }
}

void EngineLoop::step() {
  std::vector<SequenceWork> work;
  work.reserve(running_.size());
  for (const auto& request : running_) work.push_back(request->work());
  const std::vector<StepPart> parts = plan_step(work, options_.batch_rows);
  batch_.clear();
  for (const StepPart& part : parts) batch_.add(*running_[static_cast<size_t>(part.sequence)], part.n_rows);
  model_.forward(batch_.batch(), store_.layers(), threads_, batch_.prepare_logits());
  ++n_steps_;
  apply_cancellations();
  const TimePoint now = Clock::now();
  size_t n_logit_rows = 0;
  for (const StepPart& part : parts) {
    RunningRequest& request = *running_[static_cast<size_t>(part.sequence)];
    const bool has_logits = request.reaches_end(part.n_rows);
    const size_t row = n_logit_rows;
    n_logit_rows += has_logits;
    if (request.is_over()) continue;
    request.rows_done(part.n_rows, now);
    if (has_logits) request.take_logits(batch_.logits(row), now);
  }
}

void EngineLoop::finish_over() {
  std::vector<std::unique_ptr<RunningRequest>> over;
  for (auto& request : running_) {
    if (!request->is_over()) continue;
    request->release_kv();
    over.push_back(std::move(request));
  }
  if (over.empty()) return;
  std::erase(running_, nullptr);
  {
    const std::lock_guard lock(mutex_);
    publish_status_locked();
  }
  for (const auto& request : over) {
    request->finish(Clock::now());
    retire(request->id());
  }
}

void EngineLoop::retire(RequestId id) {
  const std::lock_guard lock(mutex_);
  live_.erase(id);
  cancellations_.erase(id);
  idle_.notify_all();
}

void EngineLoop::cancel_everything() {
  {
    const std::lock_guard lock(mutex_);
    cancellations_ = live_;
  }
  apply_cancellations();
  finish_over();
}

}  // namespace ferrox
