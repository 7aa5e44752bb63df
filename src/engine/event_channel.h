// How does a thread wait for a request's events? Through a queue that the engine thread fills.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/request.h"

namespace ferrox {

/// One request's events for a blocking reader. `sink()` may outlive the channel's reader.
class EventChannel {
 public:
  EventSink sink() {
    return [state = state_](Event event) {
      const std::lock_guard lock(state->mutex);
      state->events.push_back(std::move(event));
      state->ready.notify_one();
    };
  }

  /// The next event, or nothing when none came within timeout_ms.
  std::optional<Event> next(int64_t timeout_ms) {
    std::unique_lock lock(state_->mutex);
    const auto has_event = [this] { return !state_->events.empty(); };
    if (!state_->ready.wait_for(lock, std::chrono::milliseconds(timeout_ms), has_event)) return std::nullopt;
    Event event = std::move(state_->events.front());
    state_->events.pop_front();
    return event;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable ready;
    std::deque<Event> events;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ferrox
