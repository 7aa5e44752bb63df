// How does one exchange run completions? Submitted together, read through one mailbox, never left behind.
#pragma once

#include <memory>
#include <vector>

#include "engine/engine.h"
#include "server/api_error.h"
#include "server/event_mailbox.h"
#include "server/http/exchange.h"

namespace ferrox {

class App;

/// The completions of one exchange. Whatever ends the exchange (client gone, refusal, exception), those unfinished are
/// cancelled by the destructor.
class Generation {
 public:
  /// Watches the exchange's client from here on.
  Generation(App& app, Exchange& exchange);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  /// Starts a completion for each request, or none: the first refusal is returned, by the key's quota or by the engine.
  ApiResult<void> submit(std::vector<GenerationRequest> requests);

  /// Waits for events; empty after `longest` and when the client went away. Events of a choice that has ended don't
  /// come.
  awaitable<std::vector<ChoiceEvent>> take(std::chrono::milliseconds longest);

  bool finished() const { return n_running_ == 0; }
  bool client_gone() const;
  const ApiKey* caller() const { return exchange_.request().caller; }

  /// Cancels what runs; the engine answers with last events.
  void cancel();

 private:
  struct Choice {
    RequestId id;
    bool running = true;
    int64_t n_charged = 0;  ///< tokens that its key's quota was charged
  };

  void count(Choice& choice, const Event& event);
  void end(Choice& choice);

  App& app_;
  Exchange& exchange_;
  std::shared_ptr<EventMailbox> mailbox_;
  std::vector<Choice> choices_;
  size_t n_running_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ferrox
