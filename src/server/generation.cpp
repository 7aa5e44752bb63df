// How are completions started, followed and ended?
#include "server/generation.h"

#include <utility>

#include "base/log.h"
#include "server/app.h"

namespace ferrox {
namespace {

bool is_last(const Event& event) {
  return std::holds_alternative<DoneEvent>(event) || std::holds_alternative<Error>(event);
}

/// As usage counts them: choices of one prompt are neighbours, and it is computed once.
int64_t prompt_tokens(const std::vector<GenerationRequest>& requests) {
  size_t n_tokens = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i == 0 || requests[i].prompt != requests[i - 1].prompt) n_tokens += requests[i].prompt.size();
  }
  return static_cast<int64_t>(n_tokens);
}

}  // namespace

Generation::Generation(App& app, std::string id, const ApiKey* caller, std::function<void()> on_overflow)
    : app_(app), id_(std::move(id)), caller_(caller) {
  const auto overflow = [this, told = std::move(on_overflow)] {
    log().info("request {}: the client reads too slowly, cancelled", id_);
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
  app_.quotas().close(caller(), static_cast<int64_t>(n_running_));
  if (!choices_.empty()) app_.record_duration(std::chrono::steady_clock::now() - start_);
}

ApiResult<void> Generation::submit(std::vector<GenerationRequest> requests) {
  if (const auto refusal = app_.unready()) return *refusal;
  app_.sleep().note_activity(start_);
  if (const auto refusal = app_.quota_refusal(caller(), requests.size())) return *refusal;
  const int64_t n_prompt = prompt_tokens(requests);
  std::vector<NewRequest> all;
  for (GenerationRequest& request : requests) {
    all.push_back({std::move(request), app_.metrics()->follow(mailbox_->sink(all.size()))});
  }
  const auto ids = app_.engine().submit_all(std::move(all));
  if (!ids) return app_.submit_refusal(ids.error());
  for (const RequestId id : *ids) choices_.push_back({id});
  n_running_ = ids->size();
  app_.quotas().open(caller(), static_cast<int64_t>(n_running_), std::chrono::steady_clock::now());
  app_.quotas().charge(caller(), n_prompt, std::chrono::steady_clock::now());
  return {};
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
  app_.quotas().close(caller(), 1);
}

void Generation::cancel() {
  for (const Choice& choice : choices_) {
    if (choice.running) app_.engine().cancel(choice.id);
  }
}

}  // namespace ferrox
