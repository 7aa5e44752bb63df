// How much memory has this process locked? As the system counts it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace ferrox::testing {

/// Sanitizers leave locking out, since they map more than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kLocksMemory = false;
#else
inline constexpr bool kLocksMemory = true;
#endif

inline uint64_t locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmLck:" && status >> kib) return kib;
  }
  return 0;
}

}  // namespace ferrox::testing
