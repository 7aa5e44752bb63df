// How much memory has this process locked? As the system counts it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "support/sanitized.h"

namespace ferrox::testing {

/// Sanitizers leave locking out, since they map more than any limit allows.
inline constexpr bool kLocksMemory = !kIsSanitized;

inline uint64_t locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmLck:" && status >> kib) return kib;
  }
  return 0;
}

}  // namespace ferrox::testing
