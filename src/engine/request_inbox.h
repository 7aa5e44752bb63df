// Where do other threads meet the engine thread? Here: what was accepted, cancelled and counted, behind one mutex.
#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "engine/engine_status.h"
#include "engine/request.h"
#include "engine/running_request.h"
#include "sched/admission.h"
#include "sched/request_queue.h"

namespace ferrox {

/// The mutex is never held while the model runs or a sink is called.
class RequestInbox {
 public:
  RequestInbox(int32_t n_parallel, int32_t max_queue) : n_parallel_(n_parallel), queue_(max_queue) {}

  // ---- any thread

  /// Choices that are admitted together, and what they take of each attention kind.
  struct Group {
    Choices choices;
    std::vector<int64_t> pages;
  };
  /// All of the groups wait, or none do. Gives each choice its number. Errors (kUnavailable): the queue is full, the
  /// engine drains.
  Result<std::vector<RequestId>> push(std::vector<Group> groups, TimePoint deadline);

  /// Remembered until the engine thread looks; ids that are unknown or have ended are ignored.
  void cancel(RequestId id);

  void drain();
  bool wait_idle(int64_t timeout_ms);
  EngineStatus status() const;

  /// One more refusal, of a request that never came in here.
  void count_refusal(ErrorCode code);

  /// The engine is to stop: wait_for_work gives false from now on.
  void stop();

  // ---- the engine thread

  /// Sleeps until something waits, is cancelled or runs; false when the engine is to stop. With nothing running the
  /// head of the queue always has room, so a queue alone is work, and no deadline needs a clock here.
  bool wait_for_work(bool something_runs);

  /// What was cancelled since the last call: requests that still waited, and the ids of others.
  struct Cancelled {
    Choices waiting;
    std::unordered_set<RequestId> running;
  };
  Cancelled take_cancelled();

  /// The choices at the head of the queue that n_running others leave slots for and the free pages of each attention
  /// kind hold.
  std::vector<Choices> take_admissible(int32_t n_running, std::vector<int32_t> n_free_pages);

  /// Waiting requests whose deadline is at or before `now`; counted as refused.
  Choices take_expired(TimePoint now);

  /// What status() shows of the engine thread's own.
  void publish(int32_t n_running, int64_t n_pages_total, std::vector<int32_t> n_free_pages, uint64_t n_steps);

  /// Whether n_choices of these pages would be admitted by the next step, were they the last to come.
  bool would_run_now(std::span<const int64_t> pages, int32_t n_choices) const;

  /// The last event of a request has been sent.
  void retire(RequestId id);

  /// Every request there is counts as cancelled.
  void cancel_all();

 private:
  Choices extract(RequestId id);
  bool take_waiting(RequestId id, Choices& taken);

  const int32_t n_parallel_;
  mutable std::mutex mutex_;
  std::condition_variable work_;  ///< something to do for the engine thread
  std::condition_variable idle_;  ///< a request has ended
  RequestQueue queue_;
  std::unordered_map<RequestId, Choices> waiting_;  ///< one for each entry of queue_
  std::unordered_set<RequestId> live_;              ///< accepted, last event not sent
  std::unordered_set<RequestId> cancelled_;         ///< of live ones, not yet taken
  RequestId next_id_ = 1;
  bool head_is_blocked_ = false;  ///< the head of the queue was looked at and there was no room for it
  bool draining_ = false;
  bool stopping_ = false;
  std::vector<int32_t> n_free_pages_;  ///< as the engine thread last found and took them
  EngineStatus status_;
};

}  // namespace ferrox
