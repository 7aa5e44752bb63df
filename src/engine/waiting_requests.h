// What does the engine thread keep of requests that don't run? The requests, and the queue that says whose turn it is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/accepted_request.h"
#include "sched/request_queue.h"

namespace ferrox {

/// Groups of choices go by the number of their first. Not for several threads.
class WaitingRequests {
 public:
  void add(Choices choices);

  /// One that ran, and goes on later.
  void add_parked(AcceptedRequest request);

  bool empty() const { return queue_.empty(); }
  int32_t n_parked() const { return queue_.n_parked(); }

  // As RequestQueue's.
  using CachedLength = std::function<std::optional<int64_t>(Choices& choices)>;
  void begin_round() { queue_.begin_round(); }
  std::optional<RequestId> next(const CachedLength& cached, size_t n_compared);

  /// They stay until they are taken, expire or are cancelled.
  Choices& choices(RequestId first) { return waiting_.at(first); }

  /// They are admitted behind n_reused tokens. Each pays for what it may generate, the first for the rest of the
  /// prompt.
  Choices take(RequestId first, int64_t n_reused);

  /// One answer that was taken doesn't run any more.
  void stop(const AcceptedRequest& request) { queue_.stop(request.caller.name, request.n_paid, request.n_unused()); }

  /// The one of this number, if it waits: it doesn't any more.
  std::optional<AcceptedRequest> cancel(RequestId id);

  /// Those whose deadline is at or before `now`.
  Choices take_expired(TimePoint now);

  /// Answers that waited, never having run, and don't wait any more, since the last call.
  int32_t take_n_left() { return std::exchange(n_left_, 0); }

 private:
  Choices extract(RequestId first);

  std::unordered_map<RequestId, Choices> waiting_;     ///< one for each entry of queue_
  std::unordered_map<RequestId, RequestId> first_of_;  ///< of each answer that waits, the number of its group
  RequestQueue queue_;
  int32_t n_left_ = 0;
};

}  // namespace ferrox
