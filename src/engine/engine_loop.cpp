#include "engine/engine_loop.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "kv/prefix_pins.h"
#include "sched/parking.h"

namespace ferrox {

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
      slots_(static_cast<size_t>(std::max(options.n_parallel, 0))),
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
  std::vector<NewRequest> one;
  one.push_back({std::move(request), std::move(sink)});
  TRY_ASSIGN(const std::vector<RequestId> ids, submit_all(std::move(one)));
  return ids.front();
}

Result<std::vector<RequestId>> EngineLoop::submit_all(std::vector<NewRequest> requests) {
  Result<std::vector<RequestId>> ids = accept(std::move(requests), Clock::now());
  if (!ids) inbox_.count_refusal(ids.error().code);
  return ids;
}

Result<void> EngineLoop::check_number(size_t n_requests) const {
  const int64_t most = int64_t{options_.n_parallel} + options_.max_queue;
  if (static_cast<int64_t>(n_requests) <= most) return {};
  return make_error(ErrorCode::kInvalidArgument, "expected at most {} answers at once ({} run, {} wait), found {}",
                    most, options_.n_parallel, options_.max_queue, n_requests);
}

Result<std::vector<RequestId>> EngineLoop::accept(std::vector<NewRequest> requests, TimePoint arrival) {
  CHECK(!requests.empty(), "somebody asks for something");
  TRY(check_number(requests.size()));
  const TimePoint deadline = deadline_of(requests.front().request.timeout_ms, arrival);
  std::vector<Choices> groups;
  for (size_t first = 0, last = 0; first < requests.size(); first = last) {
    const GenerationRequest& one = requests[first].request;
    const auto shares_prompt = [&](const GenerationRequest& other) {
      return other.prompt == one.prompt && other.max_tokens == one.max_tokens &&
             other.use_prefix_cache == one.use_prefix_cache && other.cache_space == one.cache_space &&
             other.caller.name == one.caller.name && other.priority == one.priority;
    };
    for (last = first + 1; last < requests.size() && shares_prompt(requests[last].request);) ++last;
    TRY(accept_choices(std::span(requests).subspan(first, last - first), arrival, deadline, groups));
  }
  return inbox_.push(std::move(groups));
}

/// Prices answers to one prompt: as one group where slots and store hold all of them, else each on its own.
Result<void> EngineLoop::accept_choices(std::span<NewRequest> requests, TimePoint arrival, TimePoint deadline,
                                        std::vector<Choices>& groups) const {
  const GenerationRequest& first = requests.front().request;
  const auto n_prompt = static_cast<int64_t>(first.prompt.size());
  TRY(check_prompt_ids(first.prompt, vocabulary_.n_vocab));
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, first.max_tokens));
  const bool are_together = !pages_together(needed, n_prompt, requests.size()).empty();
  const PrefixUse prefix{first.use_prefix_cache, first.cache_space, message_ends(first.prompt)};
  for (auto& [request, sink] : requests) {
    if (&request == &first || !are_together) groups.emplace_back();
    const Caller caller = request.caller;
    const int32_t priority = request.priority;
    TRY_ASSIGN(TokenLoop loop, TokenLoop::create(std::move(request), needed.max_tokens, vocabulary_));
    groups.back().push_back(
        {0, std::move(loop), needed.n_positions, std::move(sink), arrival, prefix, caller, priority, deadline});
  }
  return {};
}

/// Pages of choices that run side by side off one prompt; none where slots or store don't hold all of them.
std::vector<int64_t> EngineLoop::pages_together(const Reservation& needed, int64_t n_prompt, size_t n_choices) const {
  const auto n = static_cast<int64_t>(n_choices);
  if (n > options_.n_parallel) return {};
  std::vector<int64_t> pages = choice_pages(kv_->terms(), n_prompt, needed.max_tokens, n);
  if (!fits_pages(pages, kv_->terms().n_pages)) return {};
  return pages;
}

Result<AdmissionAnswer> EngineLoop::ask_admission(std::span<const int32_t> prompt, std::optional<int64_t> max_tokens,
                                                  int32_t n_choices) const {
  TRY(check_number(static_cast<size_t>(n_choices)));
  TRY(check_prompt_ids(prompt, vocabulary_.n_vocab));
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  TRY_ASSIGN(const Reservation needed, price_request(limits(), n_prompt, max_tokens));
  const KvTerms& terms = kv_->terms();
  const std::vector<int64_t> all(terms.n_pages.begin(), terms.n_pages.end());
  const std::vector<int64_t> together = pages_together(needed, n_prompt, static_cast<size_t>(n_choices));
  return AdmissionAnswer{.n_prompt = n_prompt,
                         .max_tokens = needed.max_tokens,
                         .n_positions = needed.n_positions,
                         .most_positions = longest_request(terms, n_prompt, options_.context_length),
                         .kv_bytes = bytes_of_pages(terms, needed.pages),
                         .kv_bytes_limit = bytes_of_pages(terms, all),
                         .runs_now = !together.empty() && inbox_.would_run_now(together, n_choices)};
}

int32_t EngineLoop::n_slots_taken() const {
  return std::accumulate(running_.begin(), running_.end(), 0,
                         [](int32_t sum, const auto& request) { return sum + request->n_slots(); });
}

/// In the first slot that is free: of those that run none has it.
void EngineLoop::start(std::unique_ptr<RunningRequest> request) {
  const auto slot = std::ranges::find(slots_, false, &SlotState::is_busy);
  CHECK(slot != slots_.end(), "who runs has a slot");
  *slot = {true, request->space(), {}};
  request->set_slot(static_cast<int32_t>(slot - slots_.begin()));
  running_.push_back(std::move(request));
}

bool EngineLoop::ask_slots(std::function<void(std::vector<SlotState>)> take) {
  return post([this, take = std::move(take)](KvMemory&) {
    std::vector<SlotState> slots = slots_;
    for (const auto& request : running_) {
      const auto tokens = request->tokens();
      slots[static_cast<size_t>(request->slot())].tokens.assign(tokens.begin(), tokens.end());
    }
    take(std::move(slots));
  });
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

void EngineLoop::publish() {
  inbox_.publish({.n_running = n_slots_taken(),
                  .n_parked = waiting_.n_parked(),
                  .n_left = std::exchange(n_left_, 0),
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
    admit(now);
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
    n_left_ += !waiting->history;
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

/// In the order of their turns; whoever has the time to wait for a prefix that is being computed lets others pass.
void EngineLoop::admit(TimePoint now) {
  bool is_blocked = false;
  const auto cached = [&](Choices& choices) { return cached_length(choices, now); };
  waiting_.begin_round();
  while (!is_blocked) {
    const bool has_slot = n_slots_taken() < options_.n_parallel;
    const auto first = waiting_.next(cached, has_slot ? RequestQueue::kMostCompared : 1);
    if (!first) break;
    Choices& choices = waiting_.choices(*first);
    if (restores(choices)) break;  // goes on after the next step
    is_blocked = !try_admit(*first, choices, now) && !park_for(*first, choices, now);
    waiting_.begin_round();  // who was admitted may compute what others wait for
  }
  if (is_blocked && running_.empty()) wait_for_outside_holders();
  inbox_.note_blocked(is_blocked);
  publish();
}

/// Nothing runs, so that only a conversation that is being saved or restored can hold pages: its file is soon done.
void EngineLoop::wait_for_outside_holders() const {
  const std::vector<int32_t> available = kv_->n_available();
  CHECK(std::accumulate(available.begin(), available.end(), int64_t{0}) < n_pages_total_,
        "an idle engine has room for the head of its queue");
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Tokens of a prompt that are cached; nothing while it waits for more of them.
std::optional<int64_t> EngineLoop::cached_length(Choices& choices, TimePoint now) {
  AcceptedRequest& first = choices.front();
  if (!first.prefix.is_on) return 0;
  const bool has_time = now < first.deadline;
  if (has_time && waits_for_source(first.prefix)) return std::nullopt;
  const std::optional<PrefixReport> cached = kv_->find_prefix(first.prefix.space, first.loop.tokens());
  if (!cached) return 0;
  if (has_time && finds_source(first, cached->n_reusable)) return std::nullopt;
  return cached->n_reusable;
}

/// Whether the request that computes what this one needs is still about to.
bool EngineLoop::waits_for_source(PrefixUse& prefix) const {
  if (!prefix.source) return false;
  const auto source = std::ranges::find(running_, *prefix.source, [](const auto& each) { return each->id(); });
  if (source != running_.end() && (*source)->is_before(prefix.source_length)) return true;
  prefix.source.reset();
  return false;
}

/// Whether a request that runs is about to compute more of this prompt than is cached: then that is shared once it is
/// there, whatever kind of model it is.
bool EngineLoop::finds_source(AcceptedRequest& waiting, int64_t n_cached) {
  RunningRequest* best = nullptr;
  int64_t n_best = n_cached + kv_->terms().page_rows - 1;
  for (const auto& request : running_) {
    const int64_t n = request->length_to_share(waiting.loop.tokens(), waiting.prefix.space);
    if (n <= n_best || !request->is_before(n)) continue;
    best = request.get();
    n_best = n;
  }
  if (best == nullptr) return false;
  best->expect_branch(n_best);
  waiting.prefix.source = best->id();
  waiting.prefix.source_length = n_best;
  return true;
}

/// Whether more of the prompt is to come from the tiers; a slice of it did. Only for a request that has room now.
bool EngineLoop::restores(Choices& choices) {
  const AcceptedRequest& one = choices.front();
  PrefixUse& prefix = choices.front().prefix;
  if (archive_ == nullptr || !prefix.is_on || prefix.is_restored) return false;
  if (!has_slots_for(choices) || !fits_pages(pages_of(one, choices.size()), kv_->n_available())) return false;
  const auto restored = archive_->restore(prefix.space, one.loop.tokens(), threads_);
  if (restored == PrefixArchive::Restored::kLost) ++prefix.n_lost;
  constexpr int kMostLost = 8;  // slices that couldn't be read: then the rest is computed
  prefix.is_restored = restored == PrefixArchive::Restored::kAll || prefix.n_lost >= kMostLost;
  return !prefix.is_restored;
}

bool EngineLoop::has_slots_for(const Choices& choices) const {
  return n_slots_taken() + static_cast<int32_t>(choices.size()) <= options_.n_parallel;
}

bool EngineLoop::try_admit(RequestId first, Choices& choices, TimePoint now) {
  if (!has_slots_for(choices)) return false;
  const AcceptedRequest& one = choices.front();
  const auto n_tokens = static_cast<int64_t>(one.loop.tokens().size());
  KvDemand demand{
      .n_prompt = n_tokens, .max_tokens = one.n_unused(), .n_choices = static_cast<int64_t>(choices.size())};
  std::optional<PrefixReport> found;
  if (one.prefix.is_on) {
    demand.prompt = one.loop.tokens();
    demand.space = one.prefix.space;
    demand.boundaries = one.prefix.boundaries;
    found = kv_->find_prefix(demand.space, demand.prompt);
  }
  std::unique_ptr<RequestKv> held = kv_->take(demand);
  if (!held) return false;
  const bool ran_before = one.history.has_value();
  if (!ran_before) {
    inbox_.count_admission(n_tokens, held->n_reused());
    n_left_ += static_cast<int32_t>(choices.size());
  }
  Choices taken = waiting_.take(first, held->n_reused());
  start(std::make_unique<RunningRequest>(std::move(taken), std::move(held), found, options_.call_opener, now));
  return true;
}

/// Admits it in the place of others, which go on later; false when nobody owes it a place.
bool EngineLoop::park_for(RequestId first, Choices& choices, TimePoint now) {
  for (const RequestId id : parked_for(choices)) {
    park(id);
    if (try_admit(first, choices, now)) return true;
  }
  return false;
}

/// Of those that owe it a place as few as make room, or none when all of them don't.
std::vector<RequestId> EngineLoop::parked_for(const Choices& choices) const {
  const AcceptedRequest& one = choices.front();
  std::vector<RunningPlace> places;
  for (const auto& request : running_) {
    const AcceptedRequest& accepted = request->accepted();
    const bool goes_on_later = request->may_park() && fits_pages(pages_of(accepted, 1), kv_->terms().n_pages);
    places.push_back({accepted.caller.name, accepted.priority, goes_on_later});
  }
  int64_t n_slots_lacking = n_slots_taken() + static_cast<int64_t>(choices.size()) - options_.n_parallel;
  std::vector<int64_t> pages_lacking = pages_of(one, choices.size());
  const std::vector<int32_t> available = kv_->n_available();
  const auto has_room = [&] { return n_slots_lacking <= 0 && fits_pages(pages_lacking, available); };
  std::vector<RequestId> parked;
  for (const size_t index : parking_order(places, one.caller.name, one.priority)) {
    if (has_room()) break;
    const RunningRequest& request = *running_[index];
    parked.push_back(request.id());
    --n_slots_lacking;
    const std::vector<int64_t> pages = pages_of(request.accepted(), 1);
    for (size_t kind = 0; kind < pages.size(); ++kind) pages_lacking[kind] -= pages[kind];
  }
  if (!has_room()) parked.clear();
  return parked;
}

void EngineLoop::park(RequestId id) {
  const auto place = std::ranges::find(running_, id, [](const auto& each) { return each->id(); });
  std::unique_ptr<RunningRequest> request = std::move(*place);
  running_.erase(place);
  leave_slot(*request);
  waiting_.stop(request->accepted());
  waiting_.add_parked(request->park());
  inbox_.count_park();
}

/// What n answers of a request take that goes on behind its tokens.
std::vector<int64_t> EngineLoop::pages_of(const AcceptedRequest& request, size_t n_choices) const {
  const auto n_tokens = static_cast<int64_t>(request.loop.tokens().size());
  return choice_pages(kv_->terms(), n_tokens, request.n_unused(), static_cast<int64_t>(n_choices));
}

/// Lengths of the prompt after each token that ends an answer: there messages end, and conversations branch.
std::vector<int64_t> EngineLoop::message_ends(std::span<const int32_t> prompt) const {
  std::vector<int64_t> ends;
  for (size_t i = 0; i + 1 < prompt.size(); ++i) {
    if (std::ranges::find(vocabulary_.end_tokens, prompt[i]) != vocabulary_.end_tokens.end()) {
      ends.push_back(static_cast<int64_t>(i) + 1);
    }
  }
  return ends;
}

void EngineLoop::refuse_expired(TimePoint now) {
  Choices expired = waiting_.take_expired(now);
  if (expired.empty()) return;
  n_left_ += static_cast<int32_t>(expired.size());  // none of them ran before
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
  for (const StepPart& part : parts) batch_.add(*running_[static_cast<size_t>(part.sequence)], part.n_rows);
  const TimePoint start = Clock::now();
  const Batch batch = batch_.batch([this, ids = ids_of(parts)] {
    heartbeat_.beat();
    return inbox_.are_cancelled(ids);
  });
  if (!model_.forward(batch, kv_->layers(), threads_, batch_.all_logits())) {
    for (const StepPart& part : parts) running_[static_cast<size_t>(part.sequence)]->lose_rows();
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
  for (const StepPart& part : parts) running_[static_cast<size_t>(part.sequence)]->add_ids(ids);
  return ids;
}

void EngineLoop::take_results(const std::vector<StepPart>& parts) {
  const TimePoint now = Clock::now();
  size_t n_logit_rows = 0;
  for (const StepPart& part : parts) {
    RunningRequest& request = *running_[static_cast<size_t>(part.sequence)];
    const bool has_logits = request.reaches_end(part.n_rows);
    const size_t row = n_logit_rows;
    n_logit_rows += has_logits;
    request.rows_done(now);  // of one that was cancelled meanwhile, too: its state is past them
    if (request.is_over() || !has_logits) continue;
    if (archive_ != nullptr && request.leaves_prefix() && request.is_at_prompt_end()) {
      archive_->keep(request.space(), request.tokens());
    }
    fork_choices(request, batch_.logits(row), now);
    request.take_logits(batch_.logits(row), now);
  }
}

/// Choices that waited for this prompt go on from its last logits, each from a copy.
void EngineLoop::fork_choices(RunningRequest& request, std::span<const float> logits, TimePoint now) {
  for (auto& fork : request.fork_choices()) {
    std::vector<float> own(logits.begin(), logits.end());
    fork->take_logits(own, now);
    start(std::move(fork));
  }
}

/// Its pages go back, and what it computed stays for others.
void EngineLoop::leave_slot(RunningRequest& request) {
  request.release_kv();
  SlotState& slot = slots_[static_cast<size_t>(request.slot())];
  slot.is_busy = false;
  if (!request.leaves_prefix()) return;
  if (archive_ != nullptr) archive_->keep(request.space(), request.tokens());
  slot.tokens.assign(request.tokens().begin(), request.tokens().end());
}

// Pages go back and the status says so before anybody hears of the end.
void EngineLoop::finish_over() {
  std::vector<std::unique_ptr<RunningRequest>> over;
  for (auto& request : running_) {
    if (!request->is_over()) continue;
    leave_slot(*request);
    waiting_.stop(request->accepted());
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
