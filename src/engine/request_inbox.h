// Where do other threads meet the engine thread? Here: what was accepted, cancelled and counted, behind one mutex.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "engine/accepted_request.h"
#include "engine/engine_status.h"
#include "engine/request.h"
#include "kv/request_kv.h"

namespace ferrox {

/// The mutex is never held while the model runs or a sink is called.
class RequestInbox {
 public:
  RequestInbox(int32_t n_parallel, int32_t max_queue) : n_parallel_(n_parallel), max_queue_(max_queue) {}

  // ---- any thread

  /// All of the groups wait, or none do. Gives each choice its number. Errors (kUnavailable): the queue is full, with
  /// depth and cap; the engine drains.
  Result<std::vector<RequestId>> push(std::vector<Choices> groups);

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

  /// Sleeps until something waits, is cancelled or runs; false when the engine is to stop. With nothing running whoever
  /// is next always has room, so that who waits is work, and no deadline needs a clock here.
  bool wait_for_work(bool something_runs);

  /// What came since the last call: requests, and the ids of cancelled ones, which may be among them. Those who came
  /// wait, until publish() says otherwise.
  struct News {
    std::vector<Choices> arrivals;
    std::unordered_set<RequestId> cancelled;
  };
  News take_news();

  /// Whether all of these were cancelled since: nobody wants what is computed for them.
  bool are_cancelled(std::span<const RequestId> ids) const;

  /// Whether somebody was found to lack room.
  void note_blocked(bool is_blocked);

  /// Jobs for the engine thread, between two steps. Refused (false) once it stops.
  using Job = std::function<void(KvMemory& kv)>;
  bool post(Job job);
  std::vector<Job> take_jobs();

  /// A request was refused because its deadline came before the room.
  void count_expired();

  /// A request that ran is parked.
  void count_park();

  /// A request was admitted behind n_cached of its n_prompt tokens; absent: it didn't look for them.
  void count_admission(int64_t n_prompt, std::optional<int64_t> n_cached);

  /// What status() shows of the engine thread's own.
  struct Snapshot {
    int32_t n_running;
    int32_t n_parked;
    int32_t n_left;  ///< answers that came in here and don't wait any more, since the last call
    int64_t n_pages_total;
    std::vector<int32_t> n_free_pages;       ///< of each kind
    std::vector<int32_t> n_available_pages;  ///< that a new request may have
    uint64_t n_steps;
  };
  void publish(Snapshot snapshot);

  /// Whether n_choices of these pages would be admitted by the next step, were they the last to come.
  bool would_run_now(std::span<const int64_t> pages, int32_t n_choices) const;

  /// The last event of a request has been sent.
  void retire(RequestId id);

  /// Every request there is counts as cancelled.
  void cancel_all();

 private:
  Result<void> check_room(int32_t n_answers) const;

  const int32_t n_parallel_;
  const int32_t max_queue_;
  mutable std::mutex mutex_;
  std::condition_variable work_;             ///< something to do for the engine thread
  std::condition_variable idle_;             ///< a request has ended
  std::vector<Choices> arrivals_;            ///< not yet taken by the engine thread
  std::unordered_set<RequestId> live_;       ///< accepted, last event not sent
  std::unordered_set<RequestId> cancelled_;  ///< of live ones, not yet taken
  RequestId next_id_ = 1;
  bool head_is_blocked_ = false;  ///< the head of the queue was looked at and there was no room for it
  bool draining_ = false;
  bool stopping_ = false;
  std::vector<int32_t> n_available_pages_;  ///< as the engine thread last found and took them
  std::vector<Job> jobs_;
  EngineStatus status_;
};

}  // namespace ferrox
