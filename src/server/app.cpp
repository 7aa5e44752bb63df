// How are the engine's refusals told, and when should a refused client come back?
#include "server/app.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>

namespace ferrox {

ApiError asleep_refusal() {
  constexpr int kSleepRetryS = 30;  // nobody knows when somebody wakes it
  return unavailable(ErrorKind::kSleeping, "server sleeps until POST /wake_up", kSleepRetryS);
}

void App::start_draining() {
  draining_ = true;
  engine_.drain();
}

std::optional<ApiError> App::unready() const {
  if (draining_) return unavailable(ErrorKind::kDraining, "server is draining", retry_after_s());
  if (sleep_.refuses()) return asleep_refusal();
  return std::nullopt;
}

ApiError App::submit_refusal(const Error& error) const {
  return engine_error(error, draining_ ? ErrorKind::kDraining : ErrorKind::kQueueFull, retry_after_s());
}

ApiError App::run_failure(const Error& error) const {
  return engine_error(error, draining_ ? ErrorKind::kDraining : ErrorKind::kKvExhausted, retry_after_s());
}

std::optional<ApiError> App::quota_refusal(const ApiKey* key, size_t n_answers, int64_t n_held) {
  const auto n = static_cast<int64_t>(n_answers);
  if (key != nullptr && key->max_requests && n > *key->max_requests) {
    return invalid_request("n",
                           fmt::format("n: expected at most {} choices of all prompts with the key of '{}', found {}",
                                       *key->max_requests, key->name, n));
  }
  const auto refusal = quotas_.check(key, n, mean_duration_s_, std::chrono::steady_clock::now(), n_held);
  if (!refusal) return std::nullopt;
  return rate_limited(refusal->message, refusal->retry_after_s);
}

awaitable<std::optional<PrefixCacheReport>> App::ask_cache(CacheStep step, size_t most_nodes) {
  return on_waiter([this, step, most_nodes]() -> std::optional<PrefixCacheReport> {
    auto answer = std::make_shared<std::promise<std::optional<PrefixCacheReport>>>();
    auto report = answer->get_future();
    const auto take = [answer](std::optional<PrefixCacheReport> taken) { answer->set_value(std::move(taken)); };
    const bool asked = step == CacheStep::kClear ? engine_.clear_cache(take) : engine_.ask_cache(most_nodes, take);
    return asked ? report.get() : std::nullopt;
  });
}

std::vector<SlotState> App::slots() {
  std::promise<std::vector<SlotState>> answer;
  if (!engine_.ask_slots([&answer](std::vector<SlotState> slots) { answer.set_value(std::move(slots)); })) return {};
  return answer.get_future().get();
}

void App::record_duration(std::chrono::steady_clock::duration duration) {
  constexpr double kWeight = 0.1;  // the last ten or so requests
  const double seconds = std::chrono::duration<double>(duration).count();
  mean_duration_s_ += kWeight * (seconds - mean_duration_s_);
}

/// The queue drains n_running requests per mean duration.
int App::retry_after_s() const {
  const EngineStatus status = engine_.status();
  const double waves = static_cast<double>(status.n_queued + 1) / std::max(status.n_running, 1);
  return static_cast<int>(std::clamp(std::ceil(waves * mean_duration_s_), 1.0, 60.0));
}

}  // namespace ferrox
