#include "engine/engine_loop.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "tensor/attention_kinds.h"

namespace ferrox {

EngineLoop::EngineLoop(Model& model, LoopVocabulary vocabulary, PagedStore store, const EngineLoopOptions& options)
    : model_(model),
      vocabulary_(std::move(vocabulary)),
      options_(options),
      store_(std::move(store)),
      pages_(store_.n_pages()),
      threads_(options.n_threads),
      batch_(model.shape().n_vocab),
      inbox_(options.n_parallel, options.max_queue) {
  CHECK(options_.n_parallel >= 1 && options_.n_parallel <= options_.batch_rows, "a step has a row for every request");
  CHECK(options_.batch_rows <= model_.max_batch_rows(), "the model's scratch takes a whole step");
  publish();
  thread_ = std::thread([this] { run(); });
}

EngineLoop::~EngineLoop() {
  inbox_.stop();
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
  Result<RequestId> id = accept(std::move(request), std::move(sink), Clock::now());
  if (!id) inbox_.count_refusal(id.error().code);
  return id;
}

Result<RequestId> EngineLoop::accept(GenerationRequest request, EventSink sink, TimePoint arrival) {
  const TimePoint deadline = deadline_of(request.timeout_ms, arrival);
  const auto n_prompt = static_cast<int64_t>(request.prompt.size());
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, request.max_tokens));
  TRY_ASSIGN(TokenLoop loop, TokenLoop::create(std::move(request), needed.max_tokens, vocabulary_));
  return inbox_.push(std::move(loop), needed, std::move(sink), arrival, deadline);
}

void EngineLoop::publish() {
  inbox_.publish(static_cast<int32_t>(running_.size()), pages_.n_pages(), pages_.n_free(), n_steps_);
}

void EngineLoop::run() {
  while (inbox_.wait_for_work(!running_.empty())) {
    apply_cancellations();
    finish_over();
    admit();
    refuse_expired();
    if (running_.empty()) continue;
    step();
    finish_over();
  }
  inbox_.cancel_all();
  apply_cancellations();
  finish_over();
}

void EngineLoop::apply_cancellations() {
  RequestInbox::Cancelled cancelled = inbox_.take_cancelled();
  for (const auto& request : running_) {
    if (cancelled.running.contains(request->id())) request->cancel();
  }
  for (AcceptedRequest& request : cancelled.waiting) {
    finish_unadmitted(request, Clock::now());
    inbox_.retire(request.id);
  }
}

void EngineLoop::admit() {
  const TimePoint now = Clock::now();
  const int n_kinds = attention_kinds(store_.layout().layers).size();
  for (AcceptedRequest& request : inbox_.take_admissible(static_cast<int32_t>(running_.size()), pages_.n_free())) {
    SequenceKv kv(pages_, store_.page_rows());
    CHECK(kv.reserve(request.n_positions), "what was counted as free can be taken");
    running_.push_back(std::make_unique<RunningRequest>(std::move(request), std::move(kv), n_kinds, now));
  }
  publish();
}

void EngineLoop::refuse_expired() {
  const TimePoint now = Clock::now();
  for (AcceptedRequest& request : inbox_.take_expired(now)) {
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
  const std::vector<StepPart> parts = plan_step(work, options_.batch_rows);
  batch_.clear();
  for (const StepPart& part : parts) batch_.add(*running_[static_cast<size_t>(part.sequence)], part.n_rows);
  model_.forward(batch_.batch(), store_.layers(), threads_, batch_.prepare_logits());
  ++n_steps_;
  apply_cancellations();
  take_results(parts);
}

void EngineLoop::take_results(const std::vector<StepPart>& parts) {
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

// Pages go back and the status says so before anybody hears of the end.
void EngineLoop::finish_over() {
  std::vector<std::unique_ptr<RunningRequest>> over;
  for (auto& request : running_) {
    if (!request->is_over()) continue;
    request->release_kv();
    over.push_back(std::move(request));
  }
  if (over.empty()) return;
  std::erase(running_, nullptr);
  publish();
  for (const auto& request : over) {
    request->finish(Clock::now());
    inbox_.retire(request->id());
  }
}

}  // namespace ferrox
