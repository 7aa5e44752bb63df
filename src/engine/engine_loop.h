// Who runs the model? One thread that admits, plans, steps and tells; everyone else speaks to it through this.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/admitter.h"
#include "engine/engine_loop_options.h"
#include "engine/heartbeat.h"
#include "engine/prefix_archive.h"
#include "engine/request.h"
#include "engine/request_inbox.h"
#include "engine/request_intake.h"
#include "engine/running_requests.h"
#include "engine/sleep_level.h"
#include "engine/step_batch.h"
#include "engine/token_loop.h"
#include "engine/waiting_requests.h"
#include "kv/request_kv.h"
#include "nn/model.h"
#include "sched/step_pace.h"

namespace ferrox {

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
  Result<std::vector<RequestId>> submit_all(std::vector<NewRequest> requests) {
    return intake_.submit_all(std::move(requests));
  }
  Result<void> check_number(size_t n_requests) const { return intake_.check_number(n_requests); }
  Result<AdmissionAnswer> ask_admission(std::span<const int32_t> prompt, std::optional<int64_t> max_tokens,
                                        int32_t n_choices = 1) const {
    return intake_.ask_admission(prompt, max_tokens, n_choices);
  }
  bool post(RequestInbox::Job job) { return inbox_.post(std::move(job)); }
  void cancel(RequestId id) { inbox_.cancel(id); }
  void drain() { inbox_.drain(); }
  bool wait_idle(int64_t timeout_ms) { return inbox_.wait_idle(timeout_ms); }
  EngineStatus status() const;
  std::optional<PrefixTierStats> tier_stats() const;
  bool ask_slots(std::function<void(std::vector<SlotState>)> take);
  bool give_back(SleepLevel level, std::function<void()> done);
  bool clear_cache(RequestInbox::Job then);

 private:
  using Clock = std::chrono::steady_clock;

  // On the engine thread.
  void run();
  bool wait_for_work();
  bool has_copies() const;
  void take_news();
  void run_jobs();
  void refuse_expired(TimePoint now);
  void step();
  std::vector<RequestId> ids_of(const std::vector<StepPart>& parts) const;
  void take_results(const std::vector<StepPart>& parts);
  void fork_choices(RunningRequest& request, std::span<const float> logits, TimePoint now);
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
  RunningRequests running_;
  WaitingRequests waiting_;
  uint64_t n_steps_ = 0;
  RequestInbox inbox_;
  RequestIntake intake_;
  Admitter admitter_;
  Heartbeat heartbeat_;

  std::thread thread_;  ///< last: it starts when all else stands
};

}  // namespace ferrox
