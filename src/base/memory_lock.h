// How is memory kept from being swapped or dropped? By locking its pages, as far as the system lets a process.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace ferrox {

/// Reads in the pages that hold `bytes` and keeps them in memory until they are unmapped. Errors: what the system
/// refuses, with the process's limit (RLIMIT_MEMLOCK).
Result<void> lock_in_memory(std::span<const std::byte> bytes);

}  // namespace ferrox
