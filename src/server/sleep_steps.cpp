#include "server/sleep_steps.h"

#include <algorithm>
#include <future>

#include "base/free_memory.h"
#include "base/log.h"

namespace ferrox {
namespace {

constexpr std::chrono::milliseconds kSleepPoll{10};

/// A request runs, or a session is read or written: what the engine gives back would be taken again.
bool is_at_work(App& app) { return app.running().size() > 0 || app.n_on_disk() > 0; }

/// No coroutine: the frame of one would hold the lambda, which has no linkage.
awaitable<bool> give_memory_back(App& app, SleepLevel level) {
  return app.on_waiter([&app, level] {
    std::promise<void> done;
    if (!app.engine().sleep(level, [&done] { done.set_value(); })) return false;
    done.get_future().wait();
    give_free_memory_back();
    return true;
  });
}

}  // namespace

awaitable<bool> sleep_by_order(App& app, SleepLevel level) {
  const uint64_t order = app.sleep().order_sleep();
  asio::steady_timer timer(app.executor());
  while (is_at_work(app) && app.sleep().is_valid(order) && !app.draining()) {
    timer.expires_after(kSleepPoll);
    co_await timer.async_wait(kAwait);
  }
  if (!app.sleep().is_valid(order) || app.draining()) co_return false;
  const bool is_done = co_await give_memory_back(app, level);
  if (!is_done || !app.sleep().is_valid(order)) co_return false;
  app.sleep().fall_asleep(level);
  log().info("asleep, level {}: requests are refused until POST /wake_up", static_cast<int>(level));
  co_return true;
}

awaitable<void> doze_when_idle(App& app, std::chrono::milliseconds idle, asio::steady_timer& timer) {
  while (!app.draining()) {
    const auto now = std::chrono::steady_clock::now();
    const bool is_busy = is_at_work(app) || app.sleep().is_asleep() || app.sleep().refuses();
    const auto due = is_busy ? now + idle : app.sleep().active_at() + idle;
    if (!is_busy && due <= now) {
      if (!co_await give_memory_back(app, SleepLevel::kKeepPrefixes)) co_return;
      if (!is_at_work(app) && !app.sleep().refuses() && app.sleep().active_at() <= now) {
        app.sleep().fall_asleep(SleepLevel::kKeepPrefixes);
        log().info("idle: asleep until the next request");
      }
      continue;
    }
    timer.expires_at(due);
    co_await timer.async_wait(kAwait);
  }
}

}  // namespace ferrox
