// How are completions started, followed and ended?
#include "server/generation.h"

#include <numeric>
#include <utility>

#include "base/check.h"
#include "server/app.h"
#include "server/record/exchange_record.h"
#include "server/record/summary_line.h"

namespace ferrox {
namespace {

/// Prompt tokens that each choice brings, as usage counts them: choices of one prompt are neighbours, and the first of
/// them has it computed.
std::vector<int64_t> prompt_tokens(const std::vector<GenerationRequest>& requests) {
  std::vector<int64_t> n_tokens;
  for (size_t i = 0; i < requests.size(); ++i) {
    const bool leads = i == 0 || requests[i].prompt != requests[i - 1].prompt;
    n_tokens.push_back(leads ? static_cast<int64_t>(requests[i].prompt.size()) : 0);
  }
  return n_tokens;
}

}  // namespace

Generation::Generation(App& app, const HttpRequest& request, std::function<void()> on_overflow)
    : app_(app),
      id_(request.id),
      caller_(request.caller),
      arrival_(request.arrival),
      record_(request.record),
      ticket_(request.ticket) {
  CHECK(ticket_ != nullptr, "what is answered was let in");
  const auto overflow = [this, told = std::move(on_overflow)] {
    log_request(spdlog::level::info, id_, "cancelled: more of its events wait than may");
    cancel();
    told();
  };
  mailbox_ = std::make_shared<EventMailbox>(app.executor(), app.options().limits.max_stream_backlog_bytes, overflow);
  app.running().add(id_, this);
}

Generation::~Generation() {
  app_.running().remove(id_);
  mailbox_->close();
  cancel();
  app_.sleep().note_activity(std::chrono::steady_clock::now());
  if (ticket_ != nullptr) ticket_->resize(0, std::chrono::steady_clock::now());
  if (!choices_.empty()) app_.record_duration(std::chrono::steady_clock::now() - start_);
}

ApiResult<void> Generation::submit(std::vector<GenerationRequest> requests) {
  const ApiResult<void> started = start(std::move(requests));
  if (!started) ticket_.reset();
  return started;
}

ApiResult<void> Generation::start(std::vector<GenerationRequest> requests) {
  if (const auto refusal = app_.unready()) return *refusal;
  app_.sleep().note_activity(start_);
  if (const auto refusal = app_.quota_refusal(caller(), requests.size(), ticket_->n_open())) return *refusal;
  const std::vector<int64_t> n_prompt = prompt_tokens(requests);
  CallerCounts* const counts = caller() == nullptr ? nullptr : app_.callers()->find(caller()->name);
  const auto submitted = std::chrono::steady_clock::now();
  const auto ids = app_.engine().submit_all(followed(std::move(requests), n_prompt, counts));
  if (!ids) return app_.submit_refusal(ids.error());
  const int64_t n_prompts = std::reduce(n_prompt.begin(), n_prompt.end());
  record_->note_submitted(ids->size(), n_prompts, submitted);
  if (counts != nullptr) counts->n_requests.fetch_add(1, std::memory_order_relaxed);
  for (const RequestId id : *ids) choices_.push_back({id});
  n_running_ = ids->size();
  ticket_->resize(static_cast<int64_t>(n_running_), std::chrono::steady_clock::now());
  app_.quotas().charge(caller(), n_prompts, std::chrono::steady_clock::now());
  return {};
}

/// Each with a sink that counts what comes of it.
std::vector<NewRequest> Generation::followed(std::vector<GenerationRequest> requests,
                                             const std::vector<int64_t>& n_prompt, CallerCounts* counts) {
  std::vector<NewRequest> all;
  for (GenerationRequest& request : requests) {
    const size_t i = all.size();
    EventSink sink = app_.metrics()->follow(arrival_, mailbox_->sink(i));
    sink = app_.callers()->follow(counts, n_prompt[i] > 0, std::move(sink));
    sink = record_->follow(n_prompt[i] > 0, std::move(sink));
    all.push_back({std::move(request), std::move(sink)});
  }
  return all;
}

awaitable<std::vector<ChoiceEvent>> Generation::take(std::chrono::milliseconds longest) {
  auto events = co_await mailbox_->take(longest);
  for (const ChoiceEvent& event : events) {
    Choice& choice = choices_[event.choice];
    count(choice, event.event);
    if (is_last(event.event)) end(choice);
  }
  co_return events;
}

/// Tokens are charged as they come; the end tells what else was generated, as the token that ended the answer.
void Generation::count(Choice& choice, const Event& event) {
  int64_t n_tokens = std::holds_alternative<TokenEvent>(event) ? 1 : 0;
  if (const auto* done = std::get_if<DoneEvent>(&event)) n_tokens = done->usage.completion_tokens - choice.n_charged;
  if (n_tokens == 0) return;
  choice.n_charged += n_tokens;
  app_.quotas().charge(caller(), n_tokens, std::chrono::steady_clock::now());
}

void Generation::end(Choice& choice) {
  choice.running = false;
  --n_running_;
  ticket_->resize(static_cast<int64_t>(n_running_), std::chrono::steady_clock::now());
}

void Generation::cancel() {
  for (const Choice& choice : choices_) {
    if (choice.running) app_.engine().cancel(choice.id);
  }
}

}  // namespace ferrox
