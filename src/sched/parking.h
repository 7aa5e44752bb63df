// Which running requests give up their places for one that waits, and in which order?
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferrox {

/// A request that runs.
struct RunningPlace {
  std::string caller;
  int32_t priority = 0;
  bool may_park = true;
};

/// Indices into `running`, which is in order of admission. First those of a higher priority number than the one that
/// waits, the highest first and of these its own caller's; then, while its caller runs nothing, those of the callers
/// that run most, down to one request each and never of a lower priority number. Newest first in both. Who is parked
/// goes on later.
std::vector<size_t> parking_order(std::span<const RunningPlace> running, const std::string& caller, int32_t priority);

}  // namespace ferrox
