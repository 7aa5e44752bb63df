// Where do other threads meet the engine thread? Here: what was accepted, cancelled and counted, behind one mutex.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "engine/engine_status.h"
#include "engine/request.h"
#include "engine/running_request.h"
#include "kv/request_kv.h"
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

  /// Groups of choices that wait, by the number of their first, in the order in which it is their turn.
  std::vector<RequestId> waiting() const;

  /// One of them; stays where it is until the engine thread takes, expires or cancels it.
  Choices& waiting_choices(RequestId first);

  /// They are admitted.
  Choices take(RequestId first);

  /// Whether somebody was found to lack room.
  void note_blocked(bool is_blocked);

  /// Jobs for the engine thread, between two steps. Refused (false) once it stops.
  using Job = std::function<void(KvMemory& kv)>;
  bool post(Job job);
  std::vector<Job> take_jobs();

  /// Waiting requests whose deadline is at or before `now`; counted as refused.
  Choices take_expired(TimePoint now);

  /// A request was admitted behind n_cached of its n_prompt tokens.
  void count_admission(int64_t n_prompt, int64_t n_cached);

  /// What status() shows of the engine thread's own. Pages of each kind: those that are free, and those that a new
  /// request may have.
  void publish(int32_t n_running, int64_t n_pages_total, const std::vector<int32_t>& n_free_pages,
               std::vector<int32_t> n_available_pages, uint64_t n_steps);

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
  std::vector<int32_t> n_available_pages_;  ///< as the engine thread last found and took them
  std::vector<Job> jobs_;
  EngineStatus status_;
};

}  // namespace ferrox
