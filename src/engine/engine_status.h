// How busy is the engine? A snapshot for status pages.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ferrox {

/// Requests that were refused since the start, by reason.
struct RefusalCounts {
  uint64_t too_long = 0;   ///< prompt against context
  uint64_t too_large = 0;  ///< reservation against the whole store
  uint64_t queue_full = 0;
  uint64_t no_room = 0;  ///< the deadline came before the room
};

/// What admission says of a request that isn't sent.
struct AdmissionAnswer {
  int64_t n_prompt;
  int64_t max_tokens;       ///< clamped
  int64_t n_positions;      ///< prompt + max_tokens
  int64_t most_positions;   ///< that a request of this prompt may have
  uint64_t kv_bytes;        ///< what one choice takes of the store
  uint64_t kv_bytes_limit;  ///< the whole store
  bool runs_now;            ///< nobody waits and there is room for all choices side by side
};

struct EngineStatus {
  int32_t n_running = 0;
  int32_t n_queued = 0;  ///< answers that wait and haven't run yet
  int32_t n_parked = 0;  ///< that ran, and wait to go on
  uint64_t n_parks = 0;  ///< times that one was parked
  int64_t n_pages_total = 0;
  int64_t n_pages_free = 0;
  int64_t n_pages_cached = 0;            ///< that hold prefixes and give way to whoever needs them
  uint64_t n_steps = 0;                  ///< forward passes since the start
  uint64_t n_prompt_tokens = 0;          ///< of requests that were admitted
  uint64_t n_looked_up_tokens = 0;       ///< of them, those of requests that look for what is cached
  uint64_t n_cached_tokens = 0;          ///< of these, that were there already
  std::chrono::milliseconds silence{0};  ///< since the engine thread last got on with its work; none at rest
  RefusalCounts refused;

  /// Pages that requests hold.
  int64_t n_pages_used() const { return n_pages_total - n_pages_free - n_pages_cached; }
};

/// A place for one request that runs.
struct SlotState {
  bool is_busy = false;
  std::string space;            ///< the namespace of its prefixes
  std::vector<int32_t> tokens;  ///< prompt and answer of the request that runs there or ran there last
};

}  // namespace ferrox
