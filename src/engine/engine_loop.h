// Who runs the model? One thread that admits, plans, steps and tells; everyone else speaks to it through this.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/engine_status.h"
#include "engine/request.h"
#include "engine/running_request.h"
#include "engine/step_batch.h"
#include "engine/token_loop.h"
#include "kv/page_pool.h"
#include "kv/paged_store.h"
#include "nn/model.h"
#include "sched/admission.h"
#include "sched/request_queue.h"

namespace ferrox {

struct EngineLoopOptions {
  int n_threads;
  int64_t context_length;  ///< most positions of one request
  int32_t n_parallel;      ///< most requests that run at once, at most batch_rows
  int32_t batch_rows;      ///< most rows of one step, at most model.max_batch_rows()
  int32_t max_queue;
  int64_t default_max_tokens;
  int64_t default_timeout_ms;  ///< 0: no limit
};

/// The thread owns model, pages and requests that run. What others touch (queue, cancellations, status) is behind one
/// mutex, never held while the model runs or while a sink is called. Methods are safe from any thread.
class EngineLoop {
 public:
  /// `model` must outlive this.
  EngineLoop(Model& model, LoopVocabulary vocabulary, PagedStore store, const EngineLoopOptions& options);

  /// Cancels what runs or waits and joins.
  ~EngineLoop();

  // As Engine's.
  Result<RequestId> submit(GenerationRequest request, EventSink sink);
  void cancel(RequestId id);
  void drain();
  bool wait_idle(int64_t timeout_ms);
  EngineStatus status() const;

 private:
  using Clock = std::chrono::steady_clock;

  AdmissionLimits limits() const;
  Result<RequestId> enqueue(GenerationRequest request, EventSink sink, TimePoint arrival);
  void count_refusal(ErrorCode code);
  TimePoint deadline_of(int64_t timeout_ms, TimePoint arrival) const;

  // On the engine thread.
  void run();
  bool wait_for_work();
  void apply_cancellations();
  void admit();
  std::vector<AcceptedRequest> take_admissible();
  void refuse_expired();
  void step();
  void finish_over();
  void cancel_everything();
  void retire(RequestId id);
  void publish_status_locked();

  Model& model_;
  const LoopVocabulary vocabulary_;
  const EngineLoopOptions options_;

  // The engine thread's own.
  PagedStore store_;
  PagePool pages_;
  ThreadPool threads_;
  StepBatch batch_;
  std::vector<std::unique_ptr<RunningRequest>> running_;  ///< in order of admission
  uint64_t n_steps_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable work_;  ///< something to do for the engine thread
  std::condition_variable idle_;  ///< a request has ended
  RequestQueue queue_;
  std::unordered_map<RequestId, AcceptedRequest> waiting_;  ///< one for each entry of queue_
  std::unordered_set<RequestId> live_;                      ///< accepted, last event not sent
  std::unordered_set<RequestId> cancellations_;             ///< of live ones, not yet applied
  RequestId next_id_ = 1;
  bool head_is_blocked_ = false;  ///< the head of the queue was looked at and there was no room for it
  bool draining_ = false;
  bool stopping_ = false;
  EngineStatus status_;
  RefusalCounts refused_;

  std::thread thread_;  ///< last: it starts when all else stands
};

}  // namespace ferrox
