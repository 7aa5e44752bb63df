#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace ferrox {
namespace {

namespace fs = std::filesystem;

/// One line of the membership file: "4:cpu,cpuacct:/path" of version 1, "0::/path" of version 2.
struct Membership {
  std::string controllers;
  fs::path group;
};

std::vector<Membership> read_memberships(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Membership> memberships;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    memberships.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return memberships;
}

bool names_controller(std::string_view controllers, std::string_view name) {
  std::istringstream list{std::string(controllers)};
  for (std::string each; std::getline(list, each, ',');) {
    if (each == name) return true;
  }
  return false;
}

/// mount/a/b, mount/a, mount for the group /a/b; the mount alone for one that lies outside of what can be seen.
std::vector<fs::path> with_parents(const fs::path& mount, const fs::path& group) {
  const fs::path relative = group.relative_path().lexically_normal();
  std::vector<fs::path> folders;
  if (!relative.empty() && *relative.begin() != "..") {
    for (fs::path at = relative; !at.empty() && at != "."; at = at.parent_path()) folders.push_back(mount / at);
  }
  folders.push_back(mount);
  return folders;
}

/// The folders that may limit `controller`, the process's own group first.
std::vector<fs::path> folders_of(const fs::path& mount, const std::vector<Membership>& memberships,
                                 std::string_view controller) {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& hierarchy, const fs::path& group) {
    for (fs::path& folder : with_parents(hierarchy, group)) folders.push_back(std::move(folder));
  };
  for (const Membership& membership : memberships) {
    if (membership.controllers.empty()) add(mount, membership.group);
    if (!names_controller(membership.controllers, controller)) continue;
    std::error_code ignored;
    const fs::path joined = mount / membership.controllers;
    add(fs::exists(joined, ignored) ? joined : mount / controller, membership.group);
  }
  if (folders.empty()) folders = {mount, mount / controller};
  return folders;
}

std::optional<uint64_t> read_number(const fs::path& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file.peek() == '-' || !(file >> value)) return std::nullopt;  // -1 and the word "max" mean no limit
  return value;
}

std::optional<double> quota_of(const fs::path& folder) {
  std::ifstream v2(folder / "cpu.max");
  double quota = 0;
  double period = 0;
  if (v2 >> quota >> period && quota > 0 && period > 0) return quota / period;
  const auto v1_quota = read_number(folder / "cpu.cfs_quota_us");
  const auto v1_period = read_number(folder / "cpu.cfs_period_us");
  if (!v1_quota || !v1_period || *v1_quota == 0 || *v1_period == 0) return std::nullopt;
  return static_cast<double>(*v1_quota) / static_cast<double>(*v1_period);
}

/// CPUs of a list such as "0-3,7"; nothing where it is empty or no list.
std::optional<int> count_cpus(const std::string& text) {
  std::istringstream list(text);
  int n_cpus = 0;
  for (std::string range; std::getline(list, range, ',');) {
    std::istringstream numbers(range);
    int first = 0;
    if (!(numbers >> first)) return std::nullopt;
    int last = first;
    if (numbers.peek() == '-' && !(numbers.ignore() >> last)) return std::nullopt;
    if (last < first) return std::nullopt;
    n_cpus += last - first + 1;
  }
  return n_cpus > 0 ? std::optional(n_cpus) : std::nullopt;
}

std::optional<int> cpu_set_of(const fs::path& folder) {
  for (const char* name : {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"}) {
    std::ifstream file(folder / name);
    std::string list;
    if (std::getline(file, list)) {
      if (const auto n_cpus = count_cpus(list)) return n_cpus;
    }
  }
  return std::nullopt;
}

/// Bytes of file cache that count as used: the system gives them back before it refuses memory. Version 1's own lines
/// leave out the groups below, whose use is counted.
uint64_t file_cache_of(const fs::path& folder, std::string_view prefix) {
  std::ifstream file(folder / "memory.stat");
  uint64_t sum = 0;
  std::string key;
  uint64_t value = 0;
  while (file >> key >> value) {
    if (!key.starts_with(prefix)) continue;
    const std::string_view name = std::string_view(key).substr(prefix.size());
    if (name == "inactive_file" || name == "active_file") sum += value;
  }
  return sum;
}

std::optional<uint64_t> memory_left_of(const fs::path& folder) {
  constexpr const char* kVersions[][3] = {{"memory.max", "memory.current", ""},
                                          {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"}};
  for (const auto& [limit_name, used_name, stat_prefix] : kVersions) {
    const auto limit = read_number(folder / limit_name);
    if (!limit) continue;
    const uint64_t used = read_number(folder / used_name).value_or(0);
    return *limit - std::min(*limit, used - std::min(used, file_cache_of(folder, stat_prefix)));
  }
  return std::nullopt;
}

template <class T>
std::optional<T> tightest(const std::vector<fs::path>& folders, std::optional<T> (*limit_of)(const fs::path&)) {
  std::optional<T> lowest;
  for (const fs::path& folder : folders) {
    const auto limit = limit_of(folder);
    if (limit && (!lowest || *limit < *lowest)) lowest = limit;
  }
  return lowest;
}

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& mount, const fs::path& membership) {
  const auto memberships = read_memberships(membership);
  CgroupLimits limits;
  limits.cpu_time = tightest(folders_of(mount, memberships, "cpu"), quota_of);
  limits.n_cpus = tightest(folders_of(mount, memberships, "cpuset"), cpu_set_of);
  limits.memory_left_bytes = tightest(folders_of(mount, memberships, "memory"), memory_left_of);
  return limits;
}

}  // namespace ferrox
