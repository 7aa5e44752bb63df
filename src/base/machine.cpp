#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace ferrox {
namespace {

std::optional<uint64_t> read_number(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;  // also the word "max", which means no limit
  return value;
}

/// CPUs' worth of time the cgroup grants, v2 then v1; nothing when unlimited.
std::optional<double> cpu_quota() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (v2 >> quota >> period && period > 0) return quota / period;
  const auto v1_quota = read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const auto v1_period = read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (v1_quota && v1_period && *v1_period > 0 && *v1_quota < (uint64_t{1} << 62)) {
    return static_cast<double>(*v1_quota) / static_cast<double>(*v1_period);
  }
  return std::nullopt;
}

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

uint64_t cgroup_memory_left() {
  constexpr const char* kPairs[][2] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_path, used_path] : kPairs) {
    const auto limit = read_number(limit_path);
    if (limit) return *limit - std::min(*limit, read_number(used_path).value_or(0));
  }
  return std::numeric_limits<uint64_t>::max();
}

}  // namespace

int available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int n_threads = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  if (const auto quota = cpu_quota()) n_threads = std::min(n_threads, static_cast<int>(std::ceil(*quota)));
  return std::max(1, n_threads);
}

uint64_t available_memory_bytes() { return std::min(mem_available(), cgroup_memory_left()); }

}  // namespace ferrox
