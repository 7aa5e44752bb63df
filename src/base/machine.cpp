#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace ferrox {
namespace {

uint64_t mem_available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  uint64_t kib = 0;
  std::string unit;
  while (file >> key >> kib >> unit) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return std::numeric_limits<uint64_t>::max();
}

}  // namespace

int available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int n_schedulable = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return threads_within(n_schedulable, read_cgroup_limits());
}

int threads_within(int n_schedulable, const CgroupLimits& limits) {
  int n_threads = std::min(n_schedulable, limits.n_cpus.value_or(n_schedulable));
  if (limits.cpu_time && *limits.cpu_time < n_threads) n_threads = static_cast<int>(std::ceil(*limits.cpu_time));
  return std::max(1, n_threads);
}

uint64_t available_memory_bytes() {
  return std::min(mem_available(),
                  read_cgroup_limits().memory_left_bytes.value_or(std::numeric_limits<uint64_t>::max()));
}

}  // namespace ferrox
