// How do a request's events get from the engine thread to the coroutine that answers it?
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/request.h"
#include "server/http/asio.h"

namespace ferrox {

/// An event of one of an exchange's completions.
struct ChoiceEvent {
  size_t choice;
  Event event;
};

/// Filled by the engine thread through sinks, emptied on the I/O thread. Sinks may outlive the reader: after close()
/// what they bring is dropped.
class EventMailbox : public std::enable_shared_from_this<EventMailbox> {
 public:
  /// `max_backlog_bytes`: what may wait before `on_overflow` is called (once, on the I/O thread). From then on only the
  /// last event of each completion is kept, so that whoever reads learns of the end.
  EventMailbox(asio::any_io_executor executor, size_t max_backlog_bytes, std::function<void()> on_overflow);

  /// For Engine::submit: events of completion `choice`.
  EventSink sink(size_t choice);

  /// All waiting events. Waits for one when there is none; empty after `longest` or a wake().
  awaitable<std::vector<ChoiceEvent>> take(std::chrono::milliseconds longest);

  /// Ends a take() early. I/O thread only.
  void wake() {
    if (timer_) timer_->cancel();
  }

  /// No event is kept any more and nothing is posted to the executor.
  void close();

 private:
  void push(size_t choice, Event event);

  std::mutex mutex_;
  std::vector<ChoiceEvent> events_;  ///< guarded by mutex_, as are the next four
  size_t backlog_bytes_ = 0;
  bool reader_waits_ = false;
  bool overflowed_ = false;
  bool closed_ = false;
  const size_t max_backlog_bytes_;
  std::function<void()> on_overflow_;  ///< I/O thread only
  asio::any_io_executor executor_;
  /// I/O thread only; cancelled to wake the reader. close() ends it: a sink may outlive the timer's I/O context.
  std::optional<asio::steady_timer> timer_;
};

}  // namespace ferrox
