#include "engine/engine_loop.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ferrox {

EngineLoop::EngineLoop(Model& model, LoopVocabulary vocabulary, std::unique_ptr<KvMemory> kv,
                       const EngineLoopOptions& options)
    : model_(model),
      vocabulary_(std::move(vocabulary)),
      options_(options),
      kv_(std::move(kv)),
      n_pages_total_(std::accumulate(kv_->terms().n_pages.begin(), kv_->terms().n_pages.end(), int64_t{0})),
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
  kv_->check_integrity();
}

AdmissionLimits EngineLoop::limits() const {
  return {options_.context_length, kv_->terms(), options_.default_max_tokens};
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
  TRY(check_prompt_ids(request.prompt, vocabulary_.n_vocab));
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, request.max_tokens));
  TRY_ASSIGN(TokenLoop loop, TokenLoop::create(std::move(request), needed.max_tokens, vocabulary_));
  return inbox_.push(std::move(loop), needed, std::move(sink), arrival, deadline);
}

Result<AdmissionAnswer> EngineLoop::ask_admission(std::span<const int32_t> prompt,
                                                  std::optional<int64_t> max_tokens) const {
  TRY(check_prompt_ids(prompt, vocabulary_.n_vocab));
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, max_tokens));
  const KvTerms& terms = kv_->terms();
  const std::vector<int64_t> all(terms.n_pages.begin(), terms.n_pages.end());
  return AdmissionAnswer{.n_prompt = n_prompt,
                         .max_tokens = needed.max_tokens,
                         .n_positions = needed.n_positions,
                         .most_positions = longest_request(terms, n_prompt, options_.context_length),
                         .kv_bytes = bytes_of_pages(terms, needed.pages),
                         .kv_bytes_limit = bytes_of_pages(terms, all),
                         .runs_now = inbox_.would_run_now(needed.pages)};
}

void EngineLoop::publish() {
  inbox_.publish(static_cast<int32_t>(running_.size()), n_pages_total_, kv_->n_free(), n_steps_);
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
  for (AcceptedRequest& request : inbox_.take_admissible(static_cast<int32_t>(running_.size()), kv_->n_free())) {
    const int64_t n_prompt = request.loop.n_prompt();
    std::unique_ptr<RequestKv> held = kv_->take(n_prompt, request.n_positions - n_prompt);
    CHECK(held, "what was counted as free can be taken");
    running_.push_back(
        std::make_unique<RunningRequest>(std::move(request), std::move(held), options_.call_opener, now));
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
  model_.forward(batch_.batch(), kv_->layers(), threads_, batch_.prepare_logits());
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
    request.rows_done(now);
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
