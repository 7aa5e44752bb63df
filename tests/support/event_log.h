// What did a request tell its sink? Everything, in order, for a test that waits for the end.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/request.h"

namespace ferrox::testing {

/// Collects the events of one request; copies share one log.
class EventLog {
 public:
  EventSink sink() {
    return [state = state_](Event event) {
      const std::lock_guard lock(state->mutex);
      const bool last = std::holds_alternative<DoneEvent>(event) || std::holds_alternative<Error>(event);
      EXPECT_FALSE(state->ended) << "an event after the last one";
      state->ended = state->ended || last;
      state->events.push_back(std::move(event));
      state->ready.notify_all();
    };
  }

  /// Blocks until the request has ended.
  std::vector<Event> wait() {
    std::unique_lock lock(state_->mutex);
    state_->ready.wait(lock, [this] { return state_->ended; });
    return state_->events;
  }

  /// Blocks until n events of type T came (or the request has ended).
  template <class T>
  void wait_for(size_t n) {
    std::unique_lock lock(state_->mutex);
    state_->ready.wait(lock, [&] { return state_->ended || count<T>() >= n; });
  }

  bool ended() const {
    const std::lock_guard lock(state_->mutex);
    return state_->ended;
  }

  /// The whole text: what tokens released and what the end let go. Waits for the end.
  std::string text() {
    std::string out;
    for (const Event& event : wait()) {
      if (const auto* token = std::get_if<TokenEvent>(&event)) out += token->text;
      if (const auto* done = std::get_if<DoneEvent>(&event)) out += done->text;
    }
    return out;
  }

  /// Ids of all sampled tokens. Waits for the end.
  std::vector<int32_t> ids() {
    std::vector<int32_t> out;
    for (const Event& event : wait()) {
      if (const auto* token = std::get_if<TokenEvent>(&event)) out.push_back(token->id);
    }
    return out;
  }

  /// The last event, which must be a DoneEvent. Waits for the end.
  DoneEvent done() {
    const Event last = wait().back();
    if (const auto* error = std::get_if<Error>(&last)) ADD_FAILURE() << "ended by an error: " << error->message;
    return std::holds_alternative<DoneEvent>(last) ? std::get<DoneEvent>(last) : DoneEvent{};
  }

  /// The last event, which must be an Error. Waits for the end.
  Error error() {
    const Event last = wait().back();
    EXPECT_TRUE(std::holds_alternative<Error>(last)) << "ended without an error";
    return std::holds_alternative<Error>(last) ? std::get<Error>(last) : Error{};
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable ready;
    std::vector<Event> events;
    bool ended = false;
  };

  template <class T>
  size_t count() const {
    size_t n = 0;
    for (const Event& event : state_->events) n += std::holds_alternative<T>(event);
    return n;
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ferrox::testing
