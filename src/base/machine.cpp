#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace ferrox {
namespace {

/// Bytes of a "name: N kB" line; nothing when no line says.
std::optional<uint64_t> kib_line(const std::filesystem::path& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    uint64_t kib = 0;
    if (std::istringstream(line.substr(name.size())) >> kib) return kib * 1024;
  }
  return std::nullopt;
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

uint64_t available_memory_bytes(const std::filesystem::path& root) {
  constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
  const CgroupLimits limits = read_cgroup_limits(root / "sys/fs/cgroup", root / "proc/self/cgroup");
  const auto of_machine = kib_line(root / "proc/meminfo", "MemAvailable:");
  return std::min(of_machine.value_or(kNoLimit), limits.memory_left_bytes.value_or(kNoLimit));
}

std::optional<uint64_t> anonymous_memory_bytes() { return kib_line("/proc/self/status", "RssAnon:"); }

}  // namespace ferrox
