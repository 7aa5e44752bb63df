// How is the reader woken, and what bounds the events of a client that doesn't read?
#include "server/event_mailbox.h"

#include <boost/asio/post.hpp>

#include <utility>

namespace ferrox {
namespace {

size_t bytes_of(const Event& event) {
  size_t bytes = sizeof(ChoiceEvent);
  if (const auto* token = std::get_if<TokenEvent>(&event)) {
    bytes += token->text.size() + token->top_logprobs.size() * sizeof(TokenLogprob);
  }
  return bytes;
}

}  // namespace

EventMailbox::EventMailbox(asio::any_io_executor executor, size_t max_backlog_bytes, std::function<void()> on_overflow)
    : max_backlog_bytes_(max_backlog_bytes),
      on_overflow_(std::move(on_overflow)),
      executor_(std::move(executor)),
      timer_(executor_) {}

EventSink EventMailbox::sink(size_t choice) {
  return [self = shared_from_this(), choice](Event event) { self->push(choice, std::move(event)); };
}

void EventMailbox::push(size_t choice, Event event) {
  const std::lock_guard lock(mutex_);
  const bool is_end = is_last(event);
  if (closed_ || (overflowed_ && !is_end)) return;
  if (!is_end) backlog_bytes_ += bytes_of(event);  // an end can't be taken back by cancelling
  events_.push_back({choice, std::move(event)});
  const bool overflows = !overflowed_ && backlog_bytes_ > max_backlog_bytes_;
  overflowed_ = overflowed_ || overflows;
  if (!overflows && !reader_waits_) return;
  reader_waits_ = false;
  // Posted under the lock: close() can't return while the executor is about to be used.
  asio::post(executor_, [self = shared_from_this(), overflows] {
    self->wake();
    if (overflows && self->on_overflow_) self->on_overflow_();
  });
}

awaitable<std::vector<ChoiceEvent>> EventMailbox::take(std::chrono::milliseconds longest) {
  std::vector<ChoiceEvent> taken;
  for (const bool may_wait : {true, false}) {
    {
      const std::lock_guard lock(mutex_);
      taken.swap(events_);
      backlog_bytes_ = 0;
      reader_waits_ = taken.empty() && may_wait;
    }
    if (!taken.empty() || !may_wait) break;
    if (!timer_) break;
    timer_->expires_after(longest);
    co_await timer_->async_wait(kAwait);
  }
  co_return taken;
}

void EventMailbox::close() {
  on_overflow_ = nullptr;
  timer_.reset();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  reader_waits_ = false;
  events_.clear();
}

}  // namespace ferrox
