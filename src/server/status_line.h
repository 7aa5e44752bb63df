// How does a busy server show in the log? A line each so many forward passes: who runs, what is held, how fast it goes.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/log.h"
#include "engine/engine_status.h"
#include "server/http/asio.h"

namespace ferrox {

class App;

/// What is counted, at one moment.
struct StatusSample {
  EngineStatus status;
  uint64_t n_generated = 0;  ///< tokens since the start
};

/// What happened between two samples; `busy`: the time of it in which there were steps.
LogFields status_fields(const StatusSample& before, const StatusSample& now, std::chrono::duration<double> busy);

/// Looks now and then on the I/O thread: the engine thread never waits for the log.
class StatusLines {
 public:
  /// `app` outlives this.
  explicit StatusLines(App& app);

  /// Until stop(); at once, if options want no lines.
  awaitable<void> run();
  void stop();

 private:
  StatusSample sample() const;

  App& app_;
  asio::steady_timer timer_;
  bool stops_ = false;
};

}  // namespace ferrox
