// How much memory has this process locked? As the system counts it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace ferrox::testing {

inline uint64_t locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmLck:" && status >> kib) return kib;
  }
  return 0;
}

}  // namespace ferrox::testing
