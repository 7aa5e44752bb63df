// What may this process use of the machine, as its control groups say? Version 2's files or version 1's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ferrox {

/// The tightest limit of the process's group and of every group above it that can be seen; absent: none.
struct CgroupLimits {
  std::optional<double> cpu_time;             ///< CPU seconds a second
  std::optional<int> n_cpus;                  ///< CPUs of the set
  std::optional<uint64_t> memory_left_bytes;  ///< limit less use, in which file cache counts as free
};

/// `mount` is where the groups are mounted, `membership` the file that names the process's own (/proc/self/cgroup).
/// In a container a group's path may not exist below the mount, which then shows the group itself: what is missing is
/// passed over. Source: the kernel's cgroup-v2.rst and cgroup-v1/{cpusets,memory}.rst, sched-bwc.rst.
CgroupLimits read_cgroup_limits(const std::filesystem::path& mount = "/sys/fs/cgroup",
                                const std::filesystem::path& membership = "/proc/self/cgroup");

}  // namespace ferrox
