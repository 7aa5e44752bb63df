// What is the engine thread told once, when it starts?
#pragma once

#include <cstdint>

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

}  // namespace ferrox
