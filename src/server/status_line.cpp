#include "server/status_line.h"

#include "server/app.h"

namespace ferrox {
namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

LogFields status_fields(const StatusSample& before, const StatusSample& now, std::chrono::duration<double> busy) {
  const EngineStatus& status = now.status;
  const double seconds = busy.count();
  const auto n_prompt = static_cast<double>(status.n_prompt_tokens - before.status.n_prompt_tokens);
  const auto n_cached = static_cast<double>(status.n_cached_tokens - before.status.n_cached_tokens);
  const auto n_generated = static_cast<double>(now.n_generated - before.n_generated);
  LogFields fields = {{"running", int64_t{status.n_running}},  {"waiting", int64_t{status.n_queued}},
                      {"parked", int64_t{status.n_parked}},    {"pages_used", status.n_pages_used()},
                      {"pages_cached", status.n_pages_cached}, {"pages", status.n_pages_total}};
  if (n_prompt > 0) fields.push_back({"prefix_hit_rate", n_cached / n_prompt});
  if (seconds > 0) {
    fields.push_back({"prompt_tokens_per_s", (n_prompt - n_cached) / seconds});
    fields.push_back({"generated_tokens_per_s", n_generated / seconds});
  }
  return fields;
}

StatusLines::StatusLines(App& app) : app_(app), timer_(app.executor()) {}

StatusSample StatusLines::sample() const { return {app_.engine().status(), app_.metrics()->n_generated.load()}; }

void StatusLines::stop() {
  stops_ = true;
  timer_.cancel();
}

awaitable<void> StatusLines::run() {
  const auto n_steps = static_cast<uint64_t>(app_.options().status_steps);
  if (n_steps == 0) co_return;
  StatusSample told = sample();
  StatusSample seen = told;
  std::chrono::duration<double> busy{};
  auto looked = std::chrono::steady_clock::now();
  while (!stops_) {
    timer_.expires_after(kLook);
    co_await timer_.async_wait(kAwait);
    const StatusSample now = sample();
    const auto time = std::chrono::steady_clock::now();
    if (now.status.n_steps != seen.status.n_steps) busy += time - looked;
    looked = time;
    seen = now;
    if (now.status.n_steps - told.status.n_steps < n_steps) continue;
    const LogFields fields = status_fields(told, now, busy);
    log_fields(spdlog::level::info, "status", fields);
    told = now;
    busy = {};
  }
}

}  // namespace ferrox
