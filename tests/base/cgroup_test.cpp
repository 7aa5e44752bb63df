// Are the limits of control groups found as containers, services and bare machines show them?
#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/machine.h"
#include "support/temp_folder.h"

namespace ferrox {
namespace {

class Cgroup : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) {
    const auto file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  /// The limits of a process whose membership file says `lines`.
  CgroupLimits limits(const std::string& lines) {
    put("membership", lines);
    return read_cgroup_limits(folder_ / "mount", folder_ / "membership");
  }

  testing::TempFolder folder_;
};

TEST_F(Cgroup, ABareMachineHasNoLimits) {
  put("mount/cpuset.cpus.effective", "0-7");
  const auto found = limits("0::/user.slice/session.scope");
  EXPECT_FALSE(found.cpu_time);
  EXPECT_EQ(found.n_cpus, 8);
  EXPECT_FALSE(found.memory_left_bytes);
  EXPECT_EQ(threads_within(8, found), 8);
  const auto nothing = read_cgroup_limits(folder_ / "none", folder_ / "none");
  EXPECT_FALSE(nothing.cpu_time || nothing.n_cpus || nothing.memory_left_bytes);
  EXPECT_EQ(threads_within(3, nothing), 3);
}

// P1: a container on a large host has the CPUs of its quota and set.
TEST_F(Cgroup, Version2TakesTheTightestOfAllLevels) {
  put("mount/a/cpu.max", "150000 100000");
  put("mount/a/b/cpu.max", "max 100000");
  put("mount/a/b/c/cpu.max", "300000 100000");
  put("mount/a/cpuset.cpus.effective", "0-3,8-11");
  put("mount/a/b/cpuset.cpus.effective", "2,8-10");
  put("mount/a/b/memory.max", "1000");
  put("mount/a/b/memory.current", "400");
  put("mount/a/memory.max", "5000");
  put("mount/a/memory.current", "4500");
  put("mount/other/cpu.max", "1000 100000");
  const auto found = limits("0::/a/b/c");
  EXPECT_EQ(found.cpu_time, 1.5);
  EXPECT_EQ(found.n_cpus, 4);
  EXPECT_EQ(found.memory_left_bytes, 500u);
  EXPECT_EQ(threads_within(16, found), 2);
}

TEST_F(Cgroup, AContainerSeesItsOwnGroupAtTheMount) {
  put("mount/cpu.max", "50000 100000");
  put("mount/memory.max", "max");
  for (const char* lines : {"0::/", "0::/docker/0123456789ab", "0::/../../system.slice/x"}) {
    const auto found = limits(lines);
    EXPECT_EQ(found.cpu_time, 0.5) << lines;
    EXPECT_FALSE(found.memory_left_bytes) << lines;
    EXPECT_EQ(threads_within(4, found), 1) << lines;
  }
}

TEST_F(Cgroup, Version1HasAHierarchyForEachController) {
  put("mount/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000");
  put("mount/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000");
  put("mount/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  put("mount/cpu,cpuacct/cpu.cfs_period_us", "100000");
  put("mount/cpuset/docker/x/cpuset.effective_cpus", "1-2");
  put("mount/cpuset/docker/x/cpuset.cpus", "1-6");
  put("mount/memory/docker/x/memory.limit_in_bytes", "9000");
  put("mount/memory/docker/x/memory.usage_in_bytes", "10000");
  const auto found =
      limits("7:cpuset:/docker/x\n4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n1:name=systemd:/docker/x");
  EXPECT_EQ(found.cpu_time, 2.5);
  EXPECT_EQ(found.n_cpus, 2);
  EXPECT_EQ(found.memory_left_bytes, 0u);
}

TEST_F(Cgroup, Version1InAContainerWithoutTheJoinedName) {
  put("mount/cpu/cpu.cfs_quota_us", "100000");
  put("mount/cpu/cpu.cfs_period_us", "50000");
  put("mount/cpuset/cpuset.cpus", "3");
  const auto found = limits("4:cpu,cpuacct:/docker/x\n7:cpuset:/docker/x");
  EXPECT_EQ(found.cpu_time, 2);
  EXPECT_EQ(found.n_cpus, 1);
  EXPECT_EQ(threads_within(8, found), 1);
}

TEST_F(Cgroup, FileCacheCountsAsFree) {
  put("mount/pod/memory.max", "8000");
  put("mount/pod/memory.current", "3000");
  put("mount/pod/memory.stat", "anon 900\ninactive_file 1000\nactive_file 500\nfile 9\ntotal_inactive_file 7");
  EXPECT_EQ(limits("0::/pod").memory_left_bytes, 6500u);
  put("mount/pod/memory.current", "1200");
  EXPECT_EQ(limits("0::/pod").memory_left_bytes, 8000u) << "figures that were read at two moments";
  put("mount/memory/jobs/memory.limit_in_bytes", "8000");
  put("mount/memory/jobs/memory.usage_in_bytes", "7000");
  put("mount/memory/jobs/memory.stat",
      "inactive_file 1\nactive_file 1\ntotal_inactive_file 1500\ntotal_active_file 500");
  EXPECT_EQ(limits("4:memory:/jobs").memory_left_bytes, 3000u);
}

TEST_F(Cgroup, AvailableIsTheSmallerOfMachineAndGroup) {
  put("proc/meminfo", "MemTotal: 24000000 kB\nMemFree: 5 kB\nMemAvailable:    4000 kB\nHugePages_Total:       0");
  put("proc/self/cgroup", "0::/pod");
  EXPECT_EQ(available_memory_bytes(folder_.path()), 4'096'000u);
  put("sys/fs/cgroup/pod/memory.max", "1000000");
  EXPECT_EQ(available_memory_bytes(folder_.path()), 1'000'000u);
  put("proc/meminfo", "MemAvailable: lots");
  EXPECT_EQ(available_memory_bytes(folder_.path()), 1'000'000u);
}

TEST_F(Cgroup, NonsenseIsNoLimit) {
  for (const char* text : {"", "x", "max", "-1 100000", "0 0", "5"}) {
    put("mount/cpu.max", text);
    EXPECT_FALSE(limits("0::/\nnonsense\n:").cpu_time) << text;
  }
  for (const char* text : {"", "x", "3-1", "-", "5-x"}) {
    put("mount/cpuset.cpus.effective", text);
    EXPECT_FALSE(limits("0::/").n_cpus) << text;
  }
  for (const char* text : {"", "x", "max", "-1"}) {
    put("mount/memory.max", text);
    EXPECT_FALSE(limits("0::/").memory_left_bytes) << text;
  }
}

}  // namespace
}  // namespace ferrox
