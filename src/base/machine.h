// How many threads and how much memory may this process use, and how much has it? The cgroup's limits, not the host's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/cgroup.h"

namespace ferrox {

/// min(CPUs this process may be scheduled on, CPUs of the cgroup's set, ceil of its CPU quota); at least 1.
int available_threads();

/// The same for a machine whose scheduler allows n_schedulable CPUs.
int threads_within(int n_schedulable, const CgroupLimits& limits);

/// min(MemAvailable, what the cgroup (v1 or v2) leaves), in bytes. `root`: a folder that holds proc/ and sys/.
uint64_t available_memory_bytes(const std::filesystem::path& root = "/");

/// Resident bytes of this process that no file backs; nothing where the system doesn't say.
std::optional<uint64_t> anonymous_memory_bytes();

}  // namespace ferrox
