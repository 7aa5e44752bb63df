// How is a profile shown? As a tree of costs beside the work they did and how near that came to the machine's limits.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/profile.h"
#include "cli/machine_limits.h"

namespace ferrox {

/// The least time that `work` takes: memory and arithmetic overlap, int8 and float operations share the same units.
struct LimitTime {
  const char* limit;  ///< "read", "int8" or "f32": what takes most of it
  double seconds;
};
LimitTime limit_time(const Work& work, const MachineLimits& limits);

/// What the figures are divided by, and what it is called.
struct ProfileUnit {
  std::string name;
  int64_t count;
};

std::string profile_text(const ProfileNode& root, const ProfileUnit& unit, const MachineLimits& limits);

/// name, n_calls, time_ns, waiting_ns, bytes, int8_operations, f32_operations, children; sums over the whole subtree.
nlohmann::ordered_json profile_json(const ProfileNode& node);

}  // namespace ferrox
