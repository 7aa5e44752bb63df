// How are completions started, followed and ended with their exchange?
#include "server/generation.h"

#include <utility>

#include "base/log.h"
#include "server/app.h"

namespace ferrox {
namespace {

bool is_last(const Event& event) {
  return std::holds_alternative<DoneEvent>(event) || std::holds_alternative<Error>(event);
}

}  // namespace

Generation::Generation(App& app, Exchange& exchange) : app_(app), exchange_(exchange) {
  const auto on_overflow = [this] {
    log().info("request {}: the client reads too slowly, cancelled", exchange_.request().id);
    cancel();
    exchange_.abort();
  };
  mailbox_ = std::make_shared<EventMailbox>(app.executor(), app.options().limits.max_stream_backlog_bytes, on_overflow);
  exchange.watch_client([this] {
    cancel();
    mailbox_->wake();
  });
  app.running().add(exchange.request().id, this);
}

Generation::~Generation() {
  app_.running().remove(exchange_.request().id);
  exchange_.watch_client(nullptr);
  mailbox_->close();
  cancel();
  if (!choices_.empty()) app_.record_duration(std::chrono::steady_clock::now() - start_);
}

Result<void> Generation::submit(std::vector<GenerationRequest> requests) {
  std::vector<NewRequest> all;
  for (GenerationRequest& request : requests) {
    all.push_back({std::move(request), app_.metrics()->follow(mailbox_->sink(all.size()))});
  }
  TRY_ASSIGN(const std::vector<RequestId> ids, app_.engine().submit_all(std::move(all)));
  for (const RequestId id : ids) choices_.push_back({id, true});
  n_running_ = ids.size();
  return {};
}

awaitable<std::vector<ChoiceEvent>> Generation::take(std::chrono::milliseconds longest) {
  auto events = co_await mailbox_->take(longest);
  for (const ChoiceEvent& event : events) {
    if (!is_last(event.event)) continue;
    choices_[event.choice].running = false;
    --n_running_;
  }
  co_return events;
}

bool Generation::client_gone() const { return exchange_.client_gone(); }

void Generation::cancel() {
  for (const Choice& choice : choices_) {
    if (choice.running) app_.engine().cancel(choice.id);
  }
}

}  // namespace ferrox
