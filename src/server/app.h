// What do endpoints share? The engine, the options, the requests that run, and threads for work that would stall I/O.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/free_memory.h"
#include "engine/engine.h"
#include "server/answer/response_cache.h"
#include "server/api_error.h"
#include "server/http/asio.h"
#include "server/keys/key_ring.h"
#include "server/keys/quota_ledger.h"
#include "server/metrics/caller_metrics.h"
#include "server/metrics/request_metrics.h"
#include "server/running_generations.h"
#include "server/server.h"
#include "server/sleep.h"
#include "server/streams/held_streams.h"

namespace ferrox {

/// One less at the end of its life.
class Countdown {
 public:
  explicit Countdown(std::atomic<int>& n) : n_(n) {}
  ~Countdown() { --n_; }
  Countdown(const Countdown&) = delete;
  Countdown& operator=(const Countdown&) = delete;

 private:
  std::atomic<int>& n_;
};

/// What a client is told that asks for something while the server sleeps by order.
ApiError asleep_refusal();

/// Used on the I/O thread, except inside on_worker(), on_waiter() and on_disk().
class App {
 public:
  /// `engine` and `options` outlive the app.
  App(Engine& engine, const ServerOptions& options, KeyRing keys, asio::any_io_executor executor)
      : engine_(engine),
        options_(options),
        keys_(std::move(keys)),
        executor_(std::move(executor)),
        responses_(options.responses),
        streams_(executor_, options.streams),
        callers_(std::make_shared<CallerMetrics>(keys_)) {}

  Engine& engine() { return engine_; }
  const ServerOptions& options() const { return options_; }
  const KeyRing& keys() const { return keys_; }
  /// Once what runs now is through: what a large request leaves behind in the allocator goes back to the system.
  void give_free_memory_back_soon() {
    asio::post(executor_, [this] { asio::post(waiters_, give_free_memory_back); });
  }

  const asio::any_io_executor& executor() const { return executor_; }
  RunningGenerations& running() { return running_; }
  QuotaLedger& quotas() { return quotas_; }
  ResponseCache& responses() { return responses_; }
  HeldStreams& streams() { return streams_; }
  const std::shared_ptr<RequestMetrics>& metrics() const { return metrics_; }
  const std::shared_ptr<CallerMetrics>& callers() const { return callers_; }

  bool draining() const { return draining_; }
  /// No request is admitted any more.
  void start_draining();

  SleepState& sleep() { return sleep_; }

  /// Why no request is admitted now; absent: they are.
  std::optional<ApiError> unready() const;

  /// Waits until all that waits for files or steps has ended; nothing may be given to it any more.
  void join_waiters() {
    disk_.join();
    waiters_.join();
  }

  /// Runs `work` (parsing, rendering, tokenizing) on a worker thread and gives its result.
  template <class Work>
  awaitable<std::invoke_result_t<Work>> on_worker(Work work) {
    using Value = std::invoke_result_t<Work>;
    auto task = [moved = std::move(work)]() mutable -> awaitable<Value> { co_return moved(); };
    return asio::co_spawn(workers_, std::move(task), asio::use_awaitable);
  }

  /// The same on a thread for what waits for the engine's next step.
  template <class Work>
  awaitable<std::invoke_result_t<Work>> on_waiter(Work work) {
    using Value = std::invoke_result_t<Work>;
    auto task = [moved = std::move(work)]() mutable -> awaitable<Value> { co_return moved(); };
    return asio::co_spawn(waiters_, std::move(task), asio::use_awaitable);
  }

  /// The same on a thread for what waits for files: it is counted until it ends. A disk that hangs holds up nothing
  /// else.
  template <class Work>
  awaitable<std::invoke_result_t<Work>> on_disk(Work work) {
    ++n_on_disk_;
    using Value = std::invoke_result_t<Work>;
    auto task = [this, moved = std::move(work)]() mutable -> awaitable<Value> {
      const Countdown countdown(n_on_disk_);
      co_return moved();
    };
    return asio::co_spawn(disk_, std::move(task), asio::use_awaitable);
  }
  int n_on_disk() const { return n_on_disk_; }

  /// What the prefix cache holds, with up to most_nodes parts of its tree; emptied first if asked. Absent: there is no
  /// cache, or the engine stops.
  enum class CacheStep { kShow, kClear };
  awaitable<std::optional<PrefixCacheReport>> ask_cache(CacheStep step, size_t most_nodes);

  /// Runs `use` on the engine thread, between two steps, with the pinned prefixes (nullptr: there is no cache). Absent:
  /// the engine stops.
  template <class Use>
  awaitable<std::optional<std::invoke_result_t<Use, PrefixPins*>>> on_pins(Use use) {
    using Value = std::invoke_result_t<Use, PrefixPins*>;
    return on_waiter([this, moved = std::move(use)]() -> std::optional<Value> {
      std::promise<Value> answer;
      if (!engine_.ask_pins([&](PrefixPins* pins) { answer.set_value(moved(pins)); })) return std::nullopt;
      return answer.get_future().get();
    });
  }

  /// The engine's slots; none when it stops. On a waiter.
  std::vector<SlotState> slots();

  /// What a client is told when the engine refused at submission.
  ApiError submit_refusal(const Error& error) const;
  /// What a client is told when an admitted or waiting request ended with an error.
  ApiError run_failure(const Error& error) const;

  /// Whether n_answers in place of n_held that are open are more than a key may ask for: 429, or 400 where they never
  /// could be asked for.
  std::optional<ApiError> quota_refusal(const ApiKey* key, size_t n_answers, int64_t n_held = 0);

  /// Feeds the estimate behind Retry-After.
  void record_duration(std::chrono::steady_clock::duration duration);
  int retry_after_s() const;
  /// How long an answer takes, in seconds, as far as is known.
  double answer_s() const { return mean_duration_s_; }

 private:
  Engine& engine_;
  const ServerOptions& options_;
  const KeyRing keys_;
  asio::any_io_executor executor_;
  asio::thread_pool workers_{1};
  std::atomic<int> n_on_disk_ = 0;
  asio::thread_pool waiters_{4};  ///< for what waits for the engine's next step
  asio::thread_pool disk_{4};     ///< for what waits for files
  RunningGenerations running_;
  QuotaLedger quotas_;
  ResponseCache responses_;
  HeldStreams streams_;
  std::shared_ptr<CallerMetrics> callers_;
  std::shared_ptr<RequestMetrics> metrics_ = std::make_shared<RequestMetrics>();
  bool draining_ = false;
  SleepState sleep_{std::chrono::steady_clock::now()};
  double mean_duration_s_ = 1;
};

}  // namespace ferrox
