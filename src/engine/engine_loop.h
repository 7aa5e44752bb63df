// Who runs the model? One thread that admits, plans, steps and tells; everyone else speaks to it through this.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/heartbeat.h"
#include "engine/prefix_archive.h"
#include "engine/request.h"
#include "engine/request_inbox.h"
#include "engine/running_request.h"
#include "engine/sleep_level.h"
#include "engine/step_batch.h"
#include "engine/token_loop.h"
#include "engine/waiting_requests.h"
#include "kv/request_kv.h"
#include "nn/model.h"
#include "sched/admission.h"
#include "sched/step_pace.h"

namespace ferrox {

struct EngineLoopOptions {
  int n_threads;
  int64_t context_length;  ///< most positions of one request
  int32_t n_parallel;      ///< most requests that run at once, at most batch_rows
  int32_t batch_rows;      ///< most rows of one step, at most model.max_batch_rows()
  int32_t max_queue;
  int64_t default_max_tokens;
  int64_t default_timeout_ms;  ///< 0: no limit
  int32_t call_opener = -1;    ///< the token that opens a tool call, or -1
  int64_t max_gap_ms = 0;      ///< between two tokens of who generates, while prompts load; 0: no limit
};

/// The thread owns pages and requests that run, and is the only one that uses the model; all that others touch is in
/// the inbox. Methods are safe from any thread.
class EngineLoop {
 public:
  /// `model` must outlive this. `archive`, of the same memory, may be nullptr: prefixes go when the store needs room.
  EngineLoop(Model& model, LoopVocabulary vocabulary, std::unique_ptr<KvMemory> kv, const EngineLoopOptions& options,
             std::unique_ptr<PrefixArchive> archive = nullptr);

  /// Cancels what runs or waits, writes what is to be kept, and joins.
  ~EngineLoop();

  // As Engine's.
  Result<RequestId> submit(GenerationRequest request, EventSink sink);
  Result<std::vector<RequestId>> submit_all(std::vector<NewRequest> requests);
  Result<void> check_number(size_t n_requests) const;
  Result<AdmissionAnswer> ask_admission(std::span<const int32_t> prompt, std::optional<int64_t> max_tokens,
                                        int32_t n_choices = 1) const;
  bool post(RequestInbox::Job job) { return inbox_.post(std::move(job)); }
  void cancel(RequestId id) { inbox_.cancel(id); }
  void drain() { inbox_.drain(); }
  bool wait_idle(int64_t timeout_ms) { return inbox_.wait_idle(timeout_ms); }
  EngineStatus status() const;
  std::optional<PrefixTierStats> tier_stats() const;
  bool ask_slots(std::function<void(std::vector<SlotState>)> take);
  bool give_back(SleepLevel level, std::function<void()> done);

 private:
  using Clock = std::chrono::steady_clock;

  AdmissionLimits limits() const;
  Result<std::vector<RequestId>> accept(std::vector<NewRequest> requests, TimePoint arrival);
  Result<void> accept_choices(std::span<NewRequest> requests, TimePoint arrival, TimePoint deadline,
                              std::vector<Choices>& groups) const;
  std::vector<int64_t> pages_together(const Reservation& needed, int64_t n_prompt, size_t n_choices) const;
  TimePoint deadline_of(int64_t timeout_ms, TimePoint arrival) const;

  // On the engine thread.
  void run();
  bool wait_for_work();
  bool has_copies() const;
  void take_news();
  void run_jobs();
  void admit(TimePoint now);
  std::optional<int64_t> cached_length(Choices& choices, TimePoint now);
  bool waits_for_source(PrefixUse& prefix) const;
  bool finds_source(AcceptedRequest& waiting, int64_t n_cached);
  bool restores(Choices& choices);
  void wait_for_outside_holders() const;
  bool has_slots_for(const Choices& choices) const;
  bool try_admit(RequestId first, Choices& choices, TimePoint now);
  bool park_for(RequestId first, Choices& choices, TimePoint now);
  std::vector<RequestId> parked_for(const Choices& choices) const;
  void park(RequestId id);
  std::vector<int64_t> pages_of(const AcceptedRequest& request, size_t n_choices) const;
  std::vector<int64_t> message_ends(std::span<const int32_t> prompt) const;
  void refuse_expired(TimePoint now);
  void step();
  std::vector<RequestId> ids_of(const std::vector<StepPart>& parts) const;
  void take_results(const std::vector<StepPart>& parts);
  void fork_choices(RunningRequest& request, std::span<const float> logits, TimePoint now);
  int32_t n_slots_taken() const;
  void start(std::unique_ptr<RunningRequest> request);
  void leave_slot(RunningRequest& request);
  void finish_over();
  void publish();

  Model& model_;
  const LoopVocabulary vocabulary_;
  const EngineLoopOptions options_;

  std::unique_ptr<KvMemory> kv_;
  std::unique_ptr<PrefixArchive> archive_;
  int64_t n_pages_total_;
  ThreadPool threads_;
  StepBatch batch_;
  StepPace pace_;
  std::vector<std::unique_ptr<RunningRequest>> running_;  ///< in order of admission
  WaitingRequests waiting_;
  int32_t n_left_ = 0;  ///< answers that don't wait any more, since others were told
  std::vector<SlotState> slots_;
  uint64_t n_steps_ = 0;
  RequestInbox inbox_;
  Heartbeat heartbeat_;

  std::thread thread_;  ///< last: it starts when all else stands
};

}  // namespace ferrox
