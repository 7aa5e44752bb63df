// How are completions run for one request of a client? Submitted together, read through one mailbox, never left behind.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/api_error.h"
#include "server/event_mailbox.h"
#include "server/http/message.h"

namespace ferrox {

class App;
struct ApiKey;
struct CallerCounts;

/// The completions of one request. Whatever ends its answer (client gone, refusal, exception), those unfinished are
/// cancelled by the destructor.
class Generation {
 public:
  /// Known to clients by the request's id, charged to its caller by its ticket, told of in its record. on_overflow is
  /// called once, when more events wait than may, and all was cancelled.
  Generation(App& app, const HttpRequest& request, std::function<void()> on_overflow);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  /// Starts a completion for each request, or none: the first refusal is returned, by the key's quota or by the engine.
  ApiResult<void> submit(std::vector<GenerationRequest> requests);

  /// Waits for events; empty after `longest` and after wake(). Events of a choice that has ended don't come.
  awaitable<std::vector<ChoiceEvent>> take(std::chrono::milliseconds longest);

  bool finished() const { return n_running_ == 0; }
  const std::string& id() const { return id_; }
  const ApiKey* caller() const { return caller_; }
  std::chrono::steady_clock::time_point arrival() const { return arrival_; }
  const std::shared_ptr<ExchangeRecord>& record() const { return record_; }

  /// Cancels what runs; the engine answers with last events.
  void cancel();

  /// Ends a take() early.
  void wake() { mailbox_->wake(); }

 private:
  struct Choice {
    RequestId id;
    bool running = true;
    int64_t n_charged = 0;  ///< tokens that its key's quota was charged
  };

  ApiResult<void> start(std::vector<GenerationRequest> requests);
  std::vector<NewRequest> followed(std::vector<GenerationRequest> requests, const std::vector<int64_t>& n_prompt,
                                   CallerCounts* counts);
  void count(Choice& choice, const Event& event);
  void end(Choice& choice);

  App& app_;
  const std::string id_;
  const ApiKey* const caller_;  ///< nullptr: there are no keys
  const std::chrono::steady_clock::time_point arrival_;
  const std::shared_ptr<ExchangeRecord> record_;
  std::shared_ptr<QuotaTicket> ticket_;  ///< what it has open; nullptr: it was refused
  std::shared_ptr<EventMailbox> mailbox_;
  std::vector<Choice> choices_;
  size_t n_running_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ferrox
