// How many threads and how much memory may this process use? The cgroup's limits, not the host's.
#pragma once

#include <cstdint>

namespace ferrox {

/// min(CPUs this process may be scheduled on, ceil of the cgroup's CPU quota); at least 1.
int available_threads();

/// min(MemAvailable, what the cgroup (v1 or v2) leaves), in bytes.
uint64_t available_memory_bytes();

}  // namespace ferrox
