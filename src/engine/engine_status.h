// How busy is the engine? A snapshot for status pages.
#pragma once

#include <cstdint>

namespace ferrox {

struct EngineStatus {
  int32_t n_running = 0;
  int32_t n_queued = 0;
  int64_t n_pages_total = 0;
  int64_t n_pages_free = 0;
  uint64_t n_steps = 0;  ///< forward passes since the start
};

}  // namespace ferrox
